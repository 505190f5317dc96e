"use strict";
// From what is typed to what is shown.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const model = makeModel(data);
  const words = makeWords(data, model);
  const roofline = makeRoofline(data, model, words);
  const at = (id) => document.getElementById(id);
  const rateInputs = [...document.querySelectorAll("[data-rate]")];
  const modeInputs = [...document.querySelectorAll("input[name=mode]")];
  const shown = (key) => data.rates.find((rate) => rate.key === key);
  const BASIS = {
    printed: "As printed: the paper’s formulas and figures.",
    corrected: "Corrected: operations as counted here, every unit at its peak rate. Real kernels are slower.",
    measured: "Measured: times of one H200.",
  };
  // What the page was made for, until something is chosen.
  const state = { machine: data.chosen.machine, edited: false, mode: data.chosen.mode };

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  // Powers for people; the program's terminal has plain letters.
  const pretty = (text) => text.replaceAll("10^12", "10¹²");
  // A table whose cells know their columns; the first column heads its row.
  function table(name, caption, heads, rows) {
    const head = element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text))));
    const body = element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, index) =>
      index === 0 ? element("th", { scope: "row" }, cell) : element("td", { "data-label": heads[index] }, cell)))));
    return element("table", { class: name }, element("caption", {}, caption), head, body);
  }

  // A number of a field, or why there is none. An empty rate is not known.
  function number(input, isOptional) {
    const text = input.value.trim();
    const [min, max] = [input.min === "" ? -Infinity : Number(input.min), input.max === "" ? Infinity : Number(input.max)];
    const value = Number(text);
    const isEmpty = text === "" && !input.validity.badInput;
    const isWhole = input.step !== "1" || Number.isInteger(value);
    const isGood = isEmpty ? isOptional : text !== "" && Number.isFinite(value) && value >= min && value <= max && isWhole;
    input.setAttribute("aria-invalid", String(!isGood));
    if (isGood) return isEmpty ? null : value;
    const name = input.labels[0].textContent.trim();
    const range = max === Infinity ? `a number of ${min} or more` : `${input.step === "1" ? "a whole number" : "a number"} from ${min} to ${max}`;
    throw new RangeError(`${name}: ${range} is needed${isEmpty ? "" : `, not ${text || "what was typed"}`}. What is shown is for the last numbers that were right.`);
  }
  const named = () => data.machines.find((machine) => machine.name === state.machine);
  function machineNow() {
    if (!state.edited) return named();
    const figures = {};
    for (const input of rateInputs) {
      const value = number(input, input.dataset.rate !== "bandwidth");
      if (value !== null) figures[input.dataset.rate] = value * shown(input.dataset.rate).shown_size;
    }
    if (figures.bandwidth === 0) throw new RangeError("Memory: a rate above 0 is needed; without memory there is no roof.");
    return { name: "yours", title: "Your machine", basis: "hypothetical", in_the_paper: false, printed: {}, figures, notes: [] };
  }
  function fillRates() {
    const machine = named();
    for (const input of rateInputs) {
      const value = model.rate(machine, state.mode, input.dataset.rate);
      // As many digits as say the same number.
      input.value = value === null ? "" : String(Number((value / shown(input.dataset.rate).shown_size).toPrecision(15)));
      input.setAttribute("aria-invalid", "false");
    }
  }

  function showVerdict(machine, n) {
    const verdict = words.verdict(machine, state.mode, n);
    at("verdict").textContent = pretty(verdict.text);
    at("basis").textContent = BASIS[state.mode];
    at("sentences").replaceChildren(...verdict.paths.map((path) =>
      element("li", { class: { true: "yes", false: "no", null: "unknown" }[path.at_memory_speed] }, pretty(path.text))));
  }
  function bar(over) {
    const share = Math.log(Math.min(2000, Math.max(0.5, over)) / 0.5) / Math.log(4000);
    const inner = element("span", { class: "bar " + state.mode });
    inner.style.width = (100 * share).toFixed(2) + "%";
    return element("span", { class: "track", "aria-hidden": "true" }, inner);
  }
  function showPaths(machine, n, overlap) {
    const roof = model.roof(machine, state.mode, n);
    const rows = roofline.rows(machine, state.mode, n, overlap);
    const marks = rows.filter((row) => row.intensity !== undefined);
    const cells = rows.map((row) => {
      const index = marks.indexOf(row) + 1;
      const name = element("span", {}, element("span", { class: "index" }, index ? String(index) : "–"), " " + row.title);
      if (row.missing) return [name, "", "not known", "–", row.missing];
      // A measured time does not say what binds, only counts say what is tightest.
      const unit = row.binding || row.rate;
      return [name, bar(row.seconds / roof), words.milliseconds(row.seconds), words.significant(row.seconds / roof, 3) + "×", unit ? model.title(unit) : "–"];
    });
    const title = `${machine.title}, ${n}×${n}×${n}; memory alone takes ${words.milliseconds(roof)}`;
    at("paths").replaceChildren(table("ways", title, ["path", "½ to 2000 × memory", "time", "×\u00a0memory", state.mode === "measured" ? "tightest unit" : "bound by"], cells));
    const figure = at("roofline");
    const heading = `Roofline of ${machine.title}, ${n}³, ${state.mode}`;
    figure.querySelector("h3").textContent = heading;
    for (const svg of figure.querySelectorAll("svg")) {
      svg.querySelector("title").textContent = heading;
      roofline.draw(svg, machine, state.mode, marks);
    }
    figure.querySelector("tbody").replaceChildren(...marks.map((row, index) => {
      const heads = [...figure.querySelectorAll("thead th")].map((head) => head.textContent);
      const texts = [row.title, model.title(row.rate), words.significant(row.intensity, 3), pretty(words.rateText(row.rate, row.performance)), words.milliseconds(row.seconds)];
      return element("tr", {}, element("th", { scope: "row" }, String(index + 1)), ...texts.map((text, column) => element("td", { "data-label": heads[column + 1] }, text)));
    }));
    const assumed = state.mode === "measured"
      ? [`times of ${data.record.file} on ${data.record.device}, ${data.record.date}; memory as fast as a copy in the same run`,
        `measured for ${data.record.n}×${data.record.n}×${data.record.n}; every point and axis takes as long for other sizes`]
      : [...new Set(rows.flatMap((row) => row.path.assumptions)), "every unit is busy at its peak rate"];
    at("assumptions").replaceChildren(...[...assumed, ...machine.notes].map((text) => element("li", {}, text.replaceAll("`", ""))));
  }
  function margin(value) {
    if (value === null) return "not known";
    const share = Math.min(1, Math.max(0, 0.5 + Math.log10(value) / 4));
    const inner = element("span", { class: "margin " + (value >= 1 ? "enough" : "short") });
    inner.style.left = (100 * Math.min(0.5, share)).toFixed(2) + "%";
    inner.style.width = (100 * Math.abs(share - 0.5)).toFixed(2) + "%";
    const text = value >= 1 ? `${words.significant(value, 3)}× enough` : value === 0 ? "none" : `${words.significant(1 / value, 3)}× too slow`;
    return element("span", { class: "margins" }, element("span", { class: "track middle", "aria-hidden": "true" }, inner), text);
  }
  function showFloors(machine, n) {
    const [r, s, c, outputs, share, eta] = ["r", "s", "c", "outputs", "share", "eta"].map((id) => number(at(id), false));
    const mode = state.mode;
    const constants = mode === "printed" ? data.constants.printed : data.constants.counted;
    const integers = mode === "printed" ? "int32" : "integer_instructions";
    const cube = model.cube(n);
    const matrix = model.matrix(cube, r, s);
    const forms = [
      ["1: native transform", "fp64", model.native(n)],
      ["2: sum of slices in FP64", "fp64", model.reconstruction(outputs, 1, s)],
      ["3: sum of slices in integers", integers, model.reconstruction(outputs, c, s) / constants.throughput[Number(at("word").value)]],
      ["4: products on FP8 units", "fp8", matrix],
      ["4 with phase B on the same units", "fp8", model.dualUse(matrix, share, eta)],
    ];
    const bandwidth = model.rate(machine, mode, "bandwidth");
    const rows = forms.map(([name, key, coefficient]) => {
      const needed = coefficient * bandwidth;
      const have = model.rate(machine, mode, key);
      return [name, model.title(key), words.significant(coefficient, 3), pretty(words.rateText(key, needed)),
        have === null ? "not known" : pretty(words.rateText(key, have)), margin(have === null ? null : have / needed)];
    });
    const fp8 = model.rate(machine, mode, "fp8");
    const even = fp8 === null ? null : model.breakEven(fp8, matrix * bandwidth, share);
    const note = even === null ? "The rate of its FP8 units is not known."
      : even > 0 && even <= 1 ? `Thin products on FP8 units keep memory’s speed down to an efficiency of ${words.significant(100 * even, 2)} %.`
        : "Thin products on FP8 units would not keep memory’s speed at any efficiency.";
    at("floors").replaceChildren(
      table("floors", `${machine.title}, N = ${n}`, ["floor", "unit", "operations a byte", "needed", "has", "margin"], rows),
      element("p", { id: "break-even" }, note));
  }

  function show() {
    try {
      const machine = machineNow();
      const n = number(at("n"), false);
      const overlap = number(at("overlap"), false);
      showVerdict(machine, n);
      showPaths(machine, n, overlap);
      showFloors(machine, n);
      at("message").textContent = state.notice || "";
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      at("message").textContent = error.message;
    }
    state.notice = "";
  }
  function setMode(mode) {
    const canMeasure = !state.edited && model.isMeasured(named());
    if (mode === "measured" && !canMeasure) {
      state.notice = "Only an H200 was measured; shown is the corrected model.";
      mode = "corrected";
    }
    state.mode = mode;
    for (const input of modeInputs) {
      input.checked = input.value === mode;
      input.disabled = input.value === "measured" && !canMeasure;
    }
  }

  at("machine").addEventListener("change", () => {
    state.edited = at("machine").value === "yours";
    if (!state.edited) state.machine = at("machine").value;
    setMode(state.mode);
    if (!state.edited) fillRates();
    show();
  });
  for (const input of modeInputs) {
    input.addEventListener("change", () => {
      setMode(input.value);
      if (!state.edited) fillRates();
      show();
    });
  }
  for (const input of rateInputs) {
    input.addEventListener("input", () => {
      state.edited = true;
      at("machine").value = "yours";
      setMode(state.mode);
      show();
    });
  }
  at("reset").addEventListener("click", () => {
    state.edited = false;
    at("machine").value = state.machine;
    setMode(state.mode);
    fillRates();
    show();
  });
  for (const id of ["n", "overlap", "r", "s", "c", "outputs", "share", "eta"]) at(id).addEventListener("input", show);
  at("word").addEventListener("change", show);
  function preset(values) {
    for (const [id, value] of Object.entries(values)) at(id).value = String(value);
    show();
  }
  const { printed, counted, substrates } = data.constants;
  at("as-paper").addEventListener("click", () => preset({
    r: printed.moduli, s: Math.ceil(printed.modulus_bits * printed.moduli / 8), c: printed.operations_per_slice, outputs: printed.outputs_per_point,
    share: printed.share_of_phase_b, eta: 1, word: 0,
  }));
  at("as-counted").addEventListener("click", () => {
    const [r, log2] = substrates.int8.moduli[1];
    preset({ r, s: Math.ceil(log2 / substrates.int8.slice_bits), c: counted.operations_per_slice, outputs: counted.outputs_per_point, eta: 1, word: 0 });
  });
  for (const form of [at("controls"), at("parameters")]) form.addEventListener("submit", (event) => event.preventDefault());
  // Paper shows all.
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));

  setMode(state.mode);
  fillRates();
  show();
  // For tests, and for those who want to ask the model more.
  window.ozfft = { data, model, words, roofline };
})();
