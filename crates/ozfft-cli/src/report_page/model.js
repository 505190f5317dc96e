"use strict";
// The formulas of the crate `roofline`, so that numbers can move while they are typed. Constants, machines and words about them come from that
// crate (`data`, written by data.rs); a test in a browser holds what is worked out here to what Rust gives. A rate that is not known is null.
function makeModel(data) {
  const { printed, counted, substrates } = data.constants;
  const title = (key) => data.rates.find((rate) => rate.key === key).title;

  // machine.rs
  function rate(machine, mode, key) {
    if (mode === "measured" && machine.basis !== "measured") return null;
    const value = figuresOf(machine, mode)[key];
    return value === undefined ? null : value;
  }
  function figuresOf(machine, mode) {
    return mode === "printed" && machine.in_the_paper ? machine.printed : machine.figures;
  }

  // kernels.rs
  function cube(n) {
    let q = Math.floor(Math.sqrt(n));
    while (n % q !== 0) q -= 1;
    const p = n / q;
    const points = n ** 3;
    return {
      n, p, q, points,
      flops: 15 * points * Math.log2(n),
      bytes: 96 * points,
      printedProducts: 3 * n * n * 2 * (2 * p * q * Math.max(p, q)),
      foldedMultiplyAdds: 3 * n * n * p * q * (p + q),
    };
  }
  function bluesteinInstructions(of) {
    let length = 1;
    while (length < 2 * of.n - 1) length *= 2;
    const butterflies = length / 2 * Math.log2(length);
    return 3 * of.n * of.n * counted.transforms * butterflies * counted.butterfly;
  }

  // floors.rs, closed forms
  const native = (n) => 15 * Math.log2(n) / 96;
  const reconstruction = (outputs, perSlice, slices) => outputs * perSlice * slices / 96;
  const matrix = (of, moduli, slices) =>
    (of.printedProducts * (3 * moduli + 1) + 18 * of.points * moduli * slices) / of.bytes;
  const dualUse = (floor, share, efficiency) => (1 + share / efficiency) * floor;
  const breakEven = (has, floor, share) => share / (has / floor - 1);
  function wordCost(word, radix, slices) {
    const operations = slices * Math.ceil(20 / radix) + Math.ceil(104 / radix);
    return operations / Math.floor(512 / word);
  }

  // paths.rs
  const stage = (name, role, key, work) => ({ name, role, rate: key, work });
  function made(way, substrate, mode, of, outputs, stages) {
    const words = data.assumptions[mode][way] || [];
    return { way, substrate, mode, cube: of, bytes: of.bytes, outputs, stages, assumptions: words, title: pathTitle(way, substrate, mode) };
  }
  function pathTitle(way, substrate, mode) {
    const name = data.ways.find((known) => known.name === way).title;
    if (mode === "corrected" && substrate === "fp8" && way !== "fp8-only") return name + ", products in FP8";
    if (mode === "corrected" && substrate === "int8") return name + ", products in INT8";
    return name;
  }
  function printedPath(way, of) {
    if (way === "native") return made(way, null, "printed", of, 0, [stage("butterflies", "product", "fp64", of.flops)]);
    const r = printed.moduli;
    const slices = Math.ceil(printed.modulus_bits * r / 8);
    const outputs = printed.outputs_per_point * of.points;
    const products = of.printedProducts * (3 * r + 1);
    const phaseA = outputs * r * slices;
    const kulisch = printed.operations_per_slice * slices;
    const [key, perOutput] = {
      "garner": ["int32", printed.barrett * 2.5 * r * r],
      "fp64-sum": ["fp64", slices],
      "sum2": ["fp64", 6 * slices],
      "double-single": ["fp32", 7 * slices],
      "single-kahan": ["fp32", 4 * slices],
      "bernstein": ["fp64", r],
      "kulisch32": ["int32", kulisch],
      "kulisch16": ["int32", kulisch / printed.throughput[1]],
      "kulisch8": ["int32", kulisch / printed.throughput[2]],
      "fp8-only": ["fp8", printed.share_of_phase_b * (products + phaseA) / outputs],
    }[way] || [];
    if (key === undefined) return null;
    const stages = [stage("Bailey's products", "product", "fp8", products)];
    if (way !== "garner" && way !== "bernstein") stages.push(stage("phase A", "product", "fp8", phaseA));
    stages.push(stage(way === "garner" ? "Garner's recursion" : "phase B", "reconstruction", key, outputs * perOutput));
    return made(way, "fp8", "printed", of, outputs, stages);
  }
  function correctedPath(way, substrate, of) {
    const unit = substrates[substrate];
    const beside = (name, work) => stage(name, "beside", "integer_instructions", work);
    const product = (name, work) => stage(name, "product", unit.rate, work);
    const made_ = (outputs, stages) => made(way, substrate, "corrected", of, outputs, stages);
    if (way === "native" || way === "bluestein-ntt") {
      if (substrate !== "fp8") return null;
      if (way === "native") return made(way, null, "corrected", of, 0, [stage("butterflies", "product", "fp64", of.flops)]);
      const work = bluesteinInstructions(of);
      return made(way, null, "corrected", of, 0, [beside("number-theoretic transforms", work)]);
    }
    if (way === "digits") {
      const work = 2 * of.foldedMultiplyAdds * counted.digits_products * unit.digits_products;
      return made_(0, [
        product("products of digits", work),
        beside("everything else", 3 * of.points * unit.digits_instructions),
      ]);
    }
    if (way === "fp8-only" && substrate !== "fp8") return null;
    const outputs = counted.outputs_per_point * of.points;
    // A cube has two kinds of steps, with their own moduli, and half of the outputs each.
    const steps = unit.moduli.map(([r, log2]) => [r, Math.ceil(log2 / unit.slice_bits)]);
    const sum = (f) => outputs / 2 * (f(...steps[0]) + f(...steps[1]));
    const meanProducts = (unit.products * steps[0][0] + unit.products * steps[1][0]) / 2;
    const stages = [product("Bailey's products", 2 * of.foldedMultiplyAdds * meanProducts)];
    if (way !== "garner" && way !== "bernstein") {
      stages.push(product("phase A", sum((r, s) => 2 * r * (unit.phase_a[0] + unit.phase_a[1] * s))));
      stages.push(stage("multiple of M", "reconstruction", "integer_instructions", sum((_, s) => unit.multiple[0] + unit.multiple[1] * s)));
    }
    const narrow = (index) => (_, s) => counted.operations_per_slice / counted.throughput[index] * s;
    const [key, perOutput] = {
      "garner": ["integer_instructions", (r) => counted.garner * r * r],
      "fp64-sum": ["fp64", (_, s) => 2 * counted.double_per_slice * s],
      "sum2": ["fp64", (_, s) => 2 * counted.sum2_per_slice * s],
      "double-single": ["fp32", (_, s) => 2 * counted.double_single_per_slice * s],
      "single-kahan": ["fp32", (_, s) => 2 * counted.kahan_per_slice * s],
      "bernstein": ["fp64", (r) => 2 * counted.bernstein_per_modulus * r],
      "kulisch32": ["integer_instructions", narrow(0)],
      "kulisch16": ["integer_instructions", narrow(1)],
      "kulisch8": ["integer_instructions", narrow(2)],
      "fp8-only": ["integer_instructions", () => counted.bands_integers],
    }[way];
    stages.push(stage(way === "garner" ? "Garner's recursion" : "phase B", "reconstruction", key, sum(perOutput)));
    if (way === "fp8-only") stages.push(product("phase B in bands", 2 * outputs * counted.bands_products));
    stages.push(beside("everything else", 3 * of.points * counted.beside_reconstruction));
    return made_(outputs, stages);
  }
  function path(way, substrate, mode, n) {
    if (mode === "printed" && substrate === "fp8") return printedPath(way, cube(n));
    if (mode === "corrected") return correctedPath(way, substrate, cube(n));
    return null;
  }
  function paths(mode, n) {
    return data.ways.flatMap((way) => ["fp8", "int8"].map((unit) => path(way.name, unit, mode, n))).filter((found) => found);
  }
  function intensities(of) {
    const sums = [];
    for (const { rate: key, work } of of.stages) {
      const found = sums.find((sum) => sum.rate === key);
      if (found) found.coefficient += work / of.bytes;
      else sums.push({ rate: key, coefficient: work / of.bytes });
    }
    return sums;
  }

  // floors.rs, of a machine
  function asPrinted(key, coefficient) {
    const size = 10 ** ((key === "fp8" ? 2 : 3) - 1 - Math.floor(Math.log10(coefficient)));
    return Math.round(coefficient * size) / size;
  }
  function floors(of, machine) {
    const bandwidth = rate(machine, of.mode, "bandwidth");
    return intensities(of).map(({ rate: key, coefficient: exact }) => {
      const coefficient = of.mode === "printed" ? asPrinted(key, exact) : exact;
      const needed = coefficient * bandwidth;
      const have = rate(machine, of.mode, key);
      return { rate: key, coefficient, needed, have, margin: have === null ? null : have / needed };
    });
  }

  // time.rs
  function estimate(of, machine) {
    const memory = of.bytes / rate(machine, of.mode, "bandwidth");
    const units = [{ rate: "bandwidth", seconds: memory }];
    const stages = [];
    let products = 0;
    let others = 0;
    for (const { name, role, rate: key, work } of of.stages) {
      const have = rate(machine, of.mode, key);
      if (have === null) return { missing: key };
      const seconds = work / have;
      if (role === "product") products += seconds;
      else others += seconds;
      const found = units.find((unit) => unit.rate === key);
      if (found) found.seconds += seconds;
      else units.push({ rate: key, seconds });
      stages.push({ name, rate: key, seconds });
    }
    const most = units.reduce((a, b) => (b.seconds >= a.seconds ? b : a));
    return {
      memory, stages, serial: memory + products + others, tme: Math.max(memory, products) + others,
      overlapped: most.seconds, binding: most.rate,
    };
  }
  const atOverlap = (of, overlap) =>
    of.serial === Infinity ? Infinity : of.overlapped + (1 - overlap) * (of.serial - of.overlapped);

  // record.rs
  const cubed = (n) => (n / data.record.n) ** 3;
  const isMeasured = (machine) => machine.basis === "measured" && machine.title.includes(data.record.device);
  function measuredPaths(n) {
    return data.record.paths.filter((of) => of.seconds !== null)
      .map((of) => ({ ...of, seconds: of.seconds * cubed(n) }));
  }

  return {
    rate, title, cube, path, paths, intensities, floors, estimate, atOverlap, isMeasured, measuredPaths,
    native, reconstruction, matrix, dualUse, breakEven, wordCost, asPrinted,
    roof: (machine, mode, n) => mode === "measured" ? data.record.roof * cubed(n) : cube(n).bytes / rate(machine, mode, "bandwidth"),
  };
}
