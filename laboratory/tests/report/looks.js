// What can be wrong with how a page looks: asked by name, answered by a list of faults.
const [question] = arguments;
const faults = [];
const isSeen = (element) => element.getClientRects().length > 0 && element.checkVisibility({ visibilityProperty: true });
const label = (element) => `${element.tagName} ${element.id || element.getAttribute("class") || ""} "${element.textContent.trim().slice(0, 40)}"`;
const colour = (text) => (text.match(/[\d.]+/g) || []).map(Number);
function luminance([r, g, b]) {
  const part = (value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}
function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const found = colour(getComputedStyle(at).backgroundColor);
    if (found.length === 3 || found[3] > 0.99) return found;
  }
  return [255, 255, 255];
}
const questions = {
  // Words against what is behind them.
  contrast() {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
    const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    for (const element of document.body.querySelectorAll("*")) {
      if (!own(element) || !isSeen(element) || element.closest("script, style, title, desc, .skip") || element.matches(":disabled") || element.querySelector(":disabled")) continue;
      const style = getComputedStyle(element);
      const ink = colour(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
      const [a, b] = [luminance(ink), luminance(ground(element))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) faults.push(`${label(element)}: ${ratio.toFixed(2)}`);
    }
  },
  // Words of pictures that cover each other or are cut off.
  overlaps() {
    const pictures = [...document.querySelectorAll("figure svg")].filter(isSeen);
    if (pictures.length < 9) faults.push(`only ${pictures.length} pictures are seen`);
    for (const picture of pictures) {
      const frame = picture.getBoundingClientRect();
      const texts = [...picture.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
      texts.forEach(([text, box], index) => {
        const name = `${picture.closest("figure").id}, "${text.textContent}"`;
        if (box.left < frame.left - 1.5 || box.right > frame.right + 1.5 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2) faults.push(name + " is cut off");
        for (const [other, place] of texts.slice(index + 1)) {
          const width = Math.min(box.right, place.right) - Math.max(box.left, place.left);
          const height = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
          // Boxes have room above and below letters.
          if (width > 1 && height > 0.35 * Math.min(box.height, place.height)) faults.push(`${name} and "${other.textContent}" cover each other`);
        }
      });
    }
  },
  // Letters too small to read.
  letters() {
    for (const picture of document.querySelectorAll("figure svg")) {
      if (!isSeen(picture)) continue;
      const scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
      for (const text of picture.querySelectorAll("text")) {
        const size = scale * parseFloat(getComputedStyle(text).fontSize);
        if (size < 10) faults.push(`${picture.closest("figure").id}, "${text.textContent}": ${size.toFixed(1)} pixels`);
      }
    }
  },
  // What a screen reader needs.
  names() {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    ids.filter((id, index) => ids.indexOf(id) !== index).forEach((id) => faults.push(`two elements are called ${id}`));
    for (const field of document.querySelectorAll("input, select")) {
      if (!field.labels.length || !field.labels[0].textContent.trim()) faults.push(`${field.id || field.value} has no label`);
    }
    for (const element of document.querySelectorAll("[aria-labelledby], [aria-describedby]")) {
      const named = (element.getAttribute("aria-labelledby") || "") + " " + (element.getAttribute("aria-describedby") || "");
      for (const id of named.trim().split(/\s+/)) {
        const target = document.getElementById(id);
        if (!target || !target.textContent.trim()) faults.push(`${label(element)} is named by ${id}, which is empty`);
      }
    }
    for (const figure of document.querySelectorAll("figure")) {
      for (const picture of figure.querySelectorAll("svg")) {
        if (picture.getAttribute("role") !== "img") faults.push(`${figure.id}: a picture without a role`);
        if ((picture.querySelector("desc") || { textContent: "" }).textContent.length < 60) faults.push(`${figure.id}: a picture without words`);
      }
      if (!figure.querySelector("details table tbody tr")) faults.push(`${figure.id}: no numbers`);
      if (!figure.querySelector("figcaption").textContent.trim()) faults.push(`${figure.id}: no caption`);
    }
    for (const head of document.querySelectorAll("th")) if (!head.textContent.trim() || !head.scope) faults.push(`a table has an empty head: ${label(head.closest("table"))}`);
    let level = 0;
    for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
      const next = Number(heading.tagName[1]);
      if (next > level + 1) faults.push(`${label(heading)} comes after level ${level}`);
      level = next;
    }
  },
  // What only screens have, and what paper must have.
  paper() {
    for (const element of document.querySelectorAll("form, button, input, select, summary")) if (isSeen(element)) faults.push(`${label(element)} is printed`);
    for (const figure of document.querySelectorAll("figure")) {
      const pictures = [...figure.querySelectorAll("svg")].filter(isSeen);
      if (pictures.length !== 1) faults.push(`${figure.id}: ${pictures.length} pictures`);
      const table = figure.querySelector("table");
      if (!table || !isSeen(table) || table.getBoundingClientRect().height < 20) faults.push(`${figure.id}: its numbers are not printed`);
    }
  },
};
questions[question]();
return faults;
