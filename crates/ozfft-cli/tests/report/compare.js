// Compares what the page's model gives with what Rust gave. Says how many numbers were compared, and what differs.
const reference = arguments[0];
const { data, model, words } = window.ozfft;
const wrong = [];
let compared = 0;
// Rust's JSON has no infinity: it comes as a word.
const number = (value) => (value === "infinite" ? Infinity : value);
function same(where, ours, theirs) {
  compared += 1;
  const expected = number(theirs);
  if (typeof expected !== "number" || typeof ours !== "number") {
    if (ours !== expected && !(ours == null && expected == null)) wrong.push(`${where}: ${ours}, and Rust has ${expected}`);
  } else if (ours !== expected && !(Math.abs(ours - expected) <= 1e-12 * Math.abs(expected))) {
    wrong.push(`${where}: ${ours}, and Rust has ${expected}`);
  }
}
for (const one of reference.cases) {
  const machine = data.machines.find((known) => known.name === one.machine);
  const where = `${one.machine}, ${one.mode}, ${one.n}`;
  const verdict = words.verdict(machine, one.mode, one.n);
  same(where + ", text", verdict.text, one.verdict.text);
  same(where + ", roof", verdict.roof, one.verdict.roof);
  same(where + ", best", verdict.best, one.verdict.best);
  same(where + ", ways", verdict.paths.length, one.verdict.paths.length);
  one.verdict.paths.forEach((path, index) => {
    same(`${where}, ${path.title}, text`, verdict.paths[index].text, path.text);
    same(`${where}, ${path.title}, seconds`, verdict.paths[index].seconds, path.seconds);
    same(`${where}, ${path.title}, at memory speed`, verdict.paths[index].at_memory_speed, path.at_memory_speed);
  });
  const paths = one.mode === "measured" ? [] : model.paths(one.mode, one.n);
  same(where + ", paths", paths.length, one.paths.length);
  one.paths.forEach((theirs, index) => {
    const ours = paths[index];
    const here = `${where}, ${theirs.title}`;
    same(here + ", title", ours.title, theirs.title);
    same(here + ", outputs", ours.outputs, theirs.outputs);
    same(here + ", stages", ours.stages.length, theirs.stages.length);
    theirs.stages.forEach((stage, at) => {
      same(`${here}, ${stage.name}`, ours.stages[at].work, stage.work);
      same(`${here}, ${stage.name}, role`, ours.stages[at].role, stage.role);
      same(`${here}, ${stage.name}, unit`, ours.stages[at].rate, stage.rate);
    });
    const floors = model.floors(ours, machine);
    theirs.floors.forEach((floor, at) => {
      for (const key of ["rate", "coefficient", "needed", "have", "margin"]) same(`${here}, floor ${at}, ${key}`, floors[at][key], floor[key]);
    });
    const estimate = model.estimate(ours, machine);
    if (theirs.estimate === null) {
      same(here + ", missing", typeof estimate.missing, "string");
    } else {
      for (const key of ["memory", "serial", "tme", "overlapped", "binding"]) same(`${here}, ${key}`, estimate[key], theirs.estimate[key]);
      same(here + ", half overlapped", model.atOverlap(estimate, 0.5), theirs.half);
    }
  });
}
for (const form of reference.forms) {
  const { n, r, s, c, outputs, share, eta, rate } = form;
  const matrix = model.matrix(model.cube(n), r, s);
  same(`native ${n}`, model.native(n), form.native);
  same(`reconstruction ${c} ${s}`, model.reconstruction(outputs, c, s), form.reconstruction);
  same(`matrix ${n} ${r} ${s}`, matrix, form.matrix);
  same(`dual use ${n} ${r} ${s}`, model.dualUse(matrix, share, eta), form.dual_use);
  same(`break even ${n} ${r} ${s}`, model.breakEven(rate, matrix, share), form.break_even);
}
for (const [word, radix, slices, cost] of reference.words) same(`words of ${word} bits, ${radix}`, model.wordCost(word, radix, slices), cost);
for (const [value, digits, text] of reference.texts) same(`${value} with ${digits} digits`, words.significant(value, digits), text);
return { compared, wrong: wrong.slice(0, 8), count: wrong.length };
