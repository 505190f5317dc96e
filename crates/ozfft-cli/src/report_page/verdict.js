"use strict";
// The sentences of `roofline::verdict`, and numbers as that crate writes them; held to it by the same test as model.js.
function makeWords(data, model) {
  // Halves go to the even digit, as they do in Rust.
  function fixed(value, decimals) {
    const [whole, rest] = value.toFixed(100).split(".");
    const isTie = /^50*$/.test(rest.slice(decimals));
    if (!isTie) return value.toFixed(decimals);
    const kept = decimals === 0 ? whole : whole + "." + rest.slice(0, decimals);
    return Number(kept.slice(-1)) % 2 === 0 ? kept : value.toFixed(decimals);
  }
  function significant(value, digits) {
    if (value === 0) return "0";
    if (!Number.isFinite(value)) return "∞";
    const exponent = value.toExponential(digits - 1);
    const power = Number(exponent.split("e")[1]);
    if (power < -3 || power >= 6) return exponent.replace("e+", "e");
    return fixed(value, Math.max(0, digits - 1 - power));
  }
  const milliseconds = (seconds) => significant(seconds * 1e3, 3) + " ms";
  function rateText(key, value) {
    const { shown_unit, shown_size } = data.rates.find((rate) => rate.key === key);
    const text = significant(value / shown_size, 3);
    return key === "integer_instructions" ? text + "·10^12 a second" : text + " " + shown_unit;
  }

  function judged(path, machine) {
    const floors = model.floors(path, machine);
    const notKnown = floors.filter((floor) => floor.have === null).map((floor) => floor.rate);
    const known = floors.filter((floor) => floor.margin !== null);
    const least = known.length ? known.reduce((a, b) => (b.margin < a.margin ? b : a)) : null;
    const estimate = model.estimate(path, machine);
    let atMemorySpeed = null;
    if (least && least.margin < 1) atMemorySpeed = false;
    else if (least && notKnown.length === 0) atMemorySpeed = true;
    return {
      way: path.way, substrate: path.substrate, title: path.title, at_memory_speed: atMemorySpeed,
      seconds: estimate.missing ? null : estimate.overlapped,
      binding: least && least.rate, margin: least && least.margin, turning_point: least && least.needed,
      floors, not_known: notKnown, text: sentence(path, machine, floors, least, notKnown, estimate),
    };
  }
  function sentence(path, machine, floors, least, notKnown, estimate) {
    const names = notKnown.map(model.title).join(" and its ");
    const missing = names ? ` The rate of its ${names} is not known.` : "";
    const title = path.title;
    if (!least) return `${title}: not known.${missing}`;
    const unit = model.title(least.rate);
    const have = rateText(least.rate, least.have);
    const needed = rateText(least.rate, least.needed);
    const time = estimate.missing || !Number.isFinite(estimate.overlapped) ? ""
      : `, ${milliseconds(estimate.overlapped)} where memory takes ${milliseconds(estimate.memory)}`;
    if (least.have === 0) return `${title}: impossible, ${machine.title} has no ${unit}.${missing}`;
    if (least.margin >= 1 && notKnown.length === 0) {
      return `${title}: at memory speed. The ${unit} come nearest to binding: ${have}, ${significant(least.margin, 3)} times what is needed; below ${needed} they would bind.`;
    }
    if (least.margin >= 1) return `${title}: not known. The ${unit} would do (${have} of ${needed} needed).${missing}`;
    const short = least.margin > 0.9 ? `${significant(100 * (1 - least.margin), 2)} % short` : `${significant(1 / least.margin, 3)} times too slow`;
    const next = floors.filter((floor) => floor.rate !== least.rate && floor.margin !== null && floor.margin < 1)
      .map((floor) => `${rateText(floor.rate, floor.needed)} of the ${model.title(floor.rate)}`).join(" and ");
    const others = next ? `, together with ${next}` : "";
    return `${title}: bound by the ${unit}, ${short}${time}. ${machine.title} has ${have}; ${needed} would bring it to memory speed${others}.${missing}`;
  }
  function conclusion(machine, n, roof, paths) {
    const title = machine.title;
    const what = `${n}×${n}×${n} in double precision`;
    const atSpeed = paths.filter((path) => path.at_memory_speed === true);
    const known = paths.filter((path) => path.seconds !== null && Number.isFinite(path.seconds));
    const fastest = known.length ? known.reduce((a, b) => (b.seconds < a.seconds ? b : a)) : null;
    const native = paths.find((path) => path.way === "native" && path.margin !== null && path.margin >= data.parity);
    const first = native || atSpeed[0] || fastest;
    const best = first ? first.way : null;
    const memory = milliseconds(roof);
    if (native && native.margin >= 1) return { best, text: `${title}: ${what} runs at memory speed, ${memory}, natively; no emulation is needed.` };
    if (native) {
      const short = significant(100 * (1 - native.margin), 2);
      return { best, text: `${title}: ${what} runs natively within ${short} % of memory speed, ${milliseconds(native.seconds)} where memory takes ${memory}.` };
    }
    if (atSpeed.length) {
      const names = atSpeed.map((path) => path.title).join(" or by ");
      return { best, text: `${title}: native transforms do not run at memory speed, but ${what} can, in ${memory}, by ${names}.` };
    }
    if (fastest) {
      const none = paths.some((path) => path.at_memory_speed === null) ? "no way that is known runs" : "no way runs";
      return { best, text: `${title}: ${none} ${what} at memory speed (${memory}); the fastest is ${fastest.title}, ${milliseconds(fastest.seconds)}: ${significant(fastest.seconds / roof, 3)} times that.` };
    }
    return { best, text: `${title}: too few figures are known to say how ${what} would run; memory alone takes ${memory}.` };
  }

  function verdict(machine, mode, n) {
    const roof = model.roof(machine, mode, n);
    const paths = data.verdict_ways.flatMap((way) => {
      if (mode === "measured") return [measured(way, machine, n, roof)];
      const found = ["fp8", "int8"].map((unit) => model.path(way, unit, mode, n)).filter((path) => path)
        .map((path) => judged(path, machine));
      const rank = (path) => (path.seconds === null ? Infinity : path.seconds);
      return found.length ? [found.reduce((a, b) => (rank(b) < rank(a) ? b : a))] : [];
    });
    return { machine: machine.name, mode, n, roof, paths, ...conclusion(machine, n, roof, paths) };
  }
  function measured(way, machine, n, roof) {
    const title = data.ways.find((known) => known.name === way).title;
    const of = model.measuredPaths(n).filter((path) => path.way === way);
    if (!of.length) return { way, title, at_memory_speed: null, seconds: null, margin: null, text: `${title}: not measured.` };
    const best = of.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    const over = best.seconds / roof;
    const have = model.rate(machine, "measured", "integer_instructions");
    const scaled = way === "native" || have === null ? ""
      : ` If instructions alone counted, ${rateText("integer_instructions", have * over)} would bring it there.`;
    return {
      way, title: `${title} (${best.name})`, at_memory_speed: over <= 1, seconds: best.seconds, margin: 1 / over,
      text: `${title} (${best.name}): ${milliseconds(best.seconds)}, ${significant(over, 3)} times what memory takes.${scaled}`,
    };
  }
  return { significant, milliseconds, rateText, verdict };
}
