% Results of transforms.m with two libraries: the largest difference relative to the norm.
first = load(getenv("PROOF_FIRST")).results;
second = load(getenv("PROOF_SECOND")).results;
names = fieldnames(first);
worst = 0;  where = "";  same = 0;
for i = 1:numel(names)
  x = first.(names{i})(:);  y = second.(names{i})(:);
  if numel(x) != numel(y), error("%s has another size", names{i}); end
  difference = norm(x - y) / norm(x);
  same += isequal(x, y);
  if !(difference <= worst), worst = difference;  where = names{i}; end
end
printf("%d results, %d of them bit for bit the same, largest relative difference %.1e (%s)\n", numel(names), same, worst, where);
exit(!(worst < 2e-14));
