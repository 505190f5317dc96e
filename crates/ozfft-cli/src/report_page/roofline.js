"use strict";
// Moves the roofline that Rust has drawn (figures/roofline.rs) to other numbers: the same places by the same rules.
function makeRoofline(data, model, words) {
  const CEILINGS = [["fp64", "FP64"], ["fp32", "FP32"], ["int32", "INT32"], ["integer_instructions", "integer"], ["fp8", "FP8"], ["int8", "INT8"]];
  const BADGE = [16, 13];
  const SPACE = "http://www.w3.org/2000/svg";
  const place = (value) => String(Number(value.toFixed(1)));

  function axis([from, to, low, high]) {
    const at = (value) => from + Math.log(Math.min(high, Math.max(low, value)) / low) / Math.log(high / low) * (to - from);
    return { from, to, low, high, at };
  }
  function tightest(path, machine) {
    const known = model.floors(path, machine).filter((floor) => floor.margin !== null);
    if (!known.length) return null;
    const least = known.reduce((a, b) => (b.margin < a.margin ? b : a));
    return model.intensities(path).find((unit) => unit.rate === least.rate);
  }
  function mark(path, title, machine, seconds) {
    const unit = tightest(path, machine);
    if (!unit || !Number.isFinite(seconds)) return null;
    return { title, rate: unit.rate, intensity: unit.coefficient, performance: unit.coefficient * path.bytes / seconds, seconds };
  }
  // All paths, those without a mark with the reason why.
  function rows(machine, mode, n, overlap) {
    if (mode !== "measured") {
      return model.paths(mode, n).map((path) => {
        const estimate = model.estimate(path, machine);
        if (estimate.missing) return { title: path.title, missing: `rate of the ${model.title(estimate.missing)} not known`, path };
        const seconds = model.atOverlap(estimate, overlap);
        const found = mark(path, path.title, machine, seconds);
        const binding = estimate.binding;
        return found ? { ...found, path, binding, estimate } : { title: path.title, missing: `no ${model.title(binding)}`, path };
      });
    }
    return model.measuredPaths(n).map((measured) => {
      const path = measured.way && (model.path(measured.way, measured.substrate, "corrected", n) || model.path(measured.way, "fp8", "corrected", n));
      const found = path && mark(path, measured.name, machine, measured.seconds);
      return found ? { ...found, path, binding: null } : { title: measured.name, seconds: measured.seconds, unmarked: true };
    });
  }

  function freePlaces(points, size, within, also) {
    const taken = points.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]).concat(also);
    return points.map(([x, y]) => {
      const [width, height] = size;
      const extent = ([dx, dy]) => [x + dx - width / 2, y + dy - height / 2, x + dx + width / 2, y + dy + height / 2];
      const isFree = (offset) => {
        const [left, top, right, bottom] = extent(offset);
        return left >= within[0] && top >= within[1] && right <= within[2] && bottom <= within[3] &&
          taken.every(([l, t, r, b]) => right <= l || r <= left || bottom <= t || b <= top);
      };
      const beside = width / 2 + 8;
      const over = height / 2 + 7;
      let offset = [beside, 0];
      search: for (let ring = 0; ring < 10; ring += 1) {
        const far = ring * 14;
        const high = ring * (height + 1);
        for (const candidate of [
          [beside + far, 0], [-beside - far, 0], [0, -over - high], [0, over + high],
          [beside, -over - high], [beside, over + high], [-beside, -over - high], [-beside, over + high],
        ]) {
          if (isFree(candidate)) {
            offset = candidate;
            break search;
          }
        }
      }
      taken.push(extent(offset));
      return [x + offset[0], y + offset[1]];
    });
  }
  function element(name, attributes, text) {
    const made = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  const line = (name, points) => element("polyline", { class: name, points: points.map(([x, y]) => place(x) + "," + place(y)).join(" ") });

  function draw(svg, machine, mode, marks) {
    const plane = JSON.parse(svg.dataset.plane);
    const x = axis(plane.x);
    const y = axis(plane.y);
    const bandwidth = model.rate(machine, mode, "bandwidth");
    const tera = bandwidth / 1e12;
    const low = Math.max(y.low / tera, x.low);
    const high = Math.min(y.high / tera, x.high);
    const roofs = [line("roof memory", [[x.at(low), y.at(low * tera)], [x.at(high), y.at(high * tera)]])];
    const ends = [];
    const lines = [];
    for (const [key, name] of CEILINGS) {
      const have = model.rate(machine, mode, key);
      const isDrawn = key === "int32" ? mode === "printed" : !(mode === "printed" && (key === "integer_instructions" || key === "int8"));
      if (!have || !isDrawn) continue;
      const at = y.at(have / 1e12);
      roofs.push(line("floor", [[x.at(have / bandwidth), at], [x.to, at]]));
      lines.push([x.at(have / bandwidth), at - 1, x.to, at + 1]);
      ends.push([at, `${name} ${words.rateText(key, have)}`.replace("10^12 a second", "10¹²")]);
    }
    ends.sort((a, b) => a[0] - b[0]);
    let last = -Infinity;
    const names = ends.map(([at, name]) => {
      last = Math.max(at - 4, last + 15);
      roofs.push(element("text", { class: "small", x: place(x.to), y: place(last), "text-anchor": "end" }, name));
      return [x.to - 120, last - 10, x.to, last + 2];
    });
    svg.querySelector(".roofs").replaceChildren(...roofs);
    const points = marks.map((of) => [x.at(of.intensity), y.at(of.performance / 1e12)]);
    const badges = freePlaces(points, BADGE, [x.from, y.to, x.to, y.from], names.concat(lines));
    const groups = points.map(([px, py], index) => {
      const [bx, by] = badges[index];
      const group = element("g", { class: "mark" });
      const distance = Math.hypot(px - bx, py - by);
      const share = distance < 20 ? 1 : 8 / distance;
      const [ex, ey] = share === 1 ? [px, py] : [bx + share * (px - bx), by + share * (py - by)];
      group.append(
        element("line", { class: "leader", x1: place(px), y1: place(py), x2: place(ex), y2: place(ey) }),
        element("circle", { class: mode, cx: place(px), cy: place(py), r: "4.5" }),
        element("text", { class: "badge", x: place(bx), y: place(by + 4), "text-anchor": "middle" }, index + 1),
      );
      return group;
    });
    svg.querySelector(".marks").replaceChildren(...groups);
  }
  return { rows, draw };
}
