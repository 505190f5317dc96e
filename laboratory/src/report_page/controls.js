"use strict";
// From what is typed to a question, and from the model's answer to what is shown. Every formula is the model's: Rust, compiled to WebAssembly.
function openModel(data) {
  const bytes = Uint8Array.from(atob(data.model), (letter) => letter.charCodeAt(0));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {});
  // JSON in both directions; memory may have grown, so views of it are made anew.
  function call(name, value) {
    const text = new TextEncoder().encode(JSON.stringify(value));
    const place = exports.input(text.length);
    new Uint8Array(exports.memory.buffer, place, text.length).set(text);
    const length = exports[name]();
    const reply = JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.output(), length)));
    if (reply.error !== undefined) throw new RangeError(reply.error);
    return reply.ok;
  }
  call("open", data.record);
  return (question) => call("ask", question);
}
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const ask = openModel(data);
  const at = (id) => document.getElementById(id);
  const rateInputs = [...document.querySelectorAll("[data-rate]")];
  const modeInputs = [...document.querySelectorAll("input[name=mode]")];
  // What the page was made for, until something is chosen.
  const state = { machine: data.chosen.machine, edited: false, mode: data.chosen.mode };

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
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
  const named = () => data.machines.find((known) => known.machine.name === state.machine);
  function machineNow() {
    if (!state.edited) return named().machine;
    const figures = {};
    for (const input of rateInputs) {
      const key = input.dataset.rate;
      const value = number(input, key !== "bandwidth");
      if (value !== null) figures[key] = { value, unit: data.units[key], source: "typed" };
    }
    if (figures.bandwidth.value === 0) throw new RangeError("Memory: a rate above 0 is needed; without memory there is no roof.");
    return { name: "yours", title: "Your machine", basis: "hypothetical", figures };
  }
  function fillRates() {
    const fields = named().fields[state.mode];
    for (const input of rateInputs) {
      input.value = fields[input.dataset.rate] || "";
      input.setAttribute("aria-invalid", "false");
    }
  }
  function question() {
    const machine = machineNow();
    const form = { word: Number(at("word").value) };
    const [n, overlap] = ["n", "overlap"].map((id) => number(at(id), false));
    for (const id of ["r", "s", "c", "outputs", "share", "eta"]) form[id] = number(at(id), false);
    return { machine, mode: state.mode, n, overlap, form };
  }

  const percent = (value) => value.toFixed(2) + "%";
  function showVerdict(answer) {
    at("verdict").textContent = answer.verdict;
    at("basis").textContent = answer.basis;
    at("sentences").replaceChildren(...answer.sentences.map(({ class: name, text }) => element("li", { class: name }, text)));
    at("assumptions").replaceChildren(...answer.assumptions.map((text) => element("li", {}, text)));
  }
  function bar(share) {
    const inner = element("span", { class: "bar " + state.mode });
    inner.style.width = percent(share);
    return element("span", { class: "track", "aria-hidden": "true" }, inner);
  }
  function showPaths({ title, columns, rows }) {
    const cells = rows.map((row) => {
      const name = element("span", {}, element("span", { class: "index" }, row.number === null ? "–" : String(row.number)), " " + row.title);
      return [name, row.bar === null ? "" : bar(row.bar), row.time, row.times_memory, row.unit];
    });
    at("paths").replaceChildren(table("methods", title, columns, cells));
  }
  function showRoofline({ title, rows, drawings }) {
    const figure = at("roofline");
    figure.querySelector("h3").textContent = title;
    ["svg.wide", "svg.narrow"].forEach((name, index) => {
      const svg = figure.querySelector(name);
      svg.querySelector("title").textContent = title;
      svg.querySelector(".roofs").innerHTML = drawings[index].roofs;
      svg.querySelector(".marks").innerHTML = drawings[index].marks;
    });
    const heads = [...figure.querySelectorAll("thead th")].map((head) => head.textContent);
    figure.querySelector("tbody").replaceChildren(...rows.map((cells) => element("tr", {}, ...cells.map((text, column) =>
      column === 0 ? element("th", { scope: "row" }, text) : element("td", { "data-label": heads[column] }, text)))));
  }
  function margin({ margin: text, bar: shape }) {
    if (shape === null) return text;
    const [name, left, width] = shape;
    const inner = element("span", { class: "margin " + name });
    inner.style.left = percent(left);
    inner.style.width = percent(width);
    return element("span", { class: "margins" }, element("span", { class: "track middle", "aria-hidden": "true" }, inner), text);
  }
  function showFloors({ title, columns, rows, note }) {
    at("floors").replaceChildren(
      table("floors", title, columns, rows.map((row) => [...row.cells, margin(row)])),
      element("p", { id: "break-even" }, note));
  }

  function show() {
    try {
      const answer = ask(question());
      showVerdict(answer);
      showPaths(answer.paths);
      showRoofline(answer.roofline);
      showFloors(answer.floors);
      at("message").textContent = state.notice || "";
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      at("message").textContent = error.message;
    }
    state.notice = "";
  }
  function setMode(mode) {
    const canMeasure = !state.edited && named().measured;
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
  at("as-paper").addEventListener("click", () => preset(data.presets.paper));
  at("as-counted").addEventListener("click", () => preset(data.presets.counted));
  for (const form of [at("controls"), at("parameters")]) form.addEventListener("submit", (event) => event.preventDefault());
  // Paper shows all.
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));

  setMode(state.mode);
  fillRates();
  show();
  // For tests, and for those who want to ask the model more.
  window.ozfft = { data, ask };
})();
