// Making elements.

const SVG = "http://www.w3.org/2000/svg";

export const element = (name, textContent, others = {}) =>
  Object.assign(document.createElement(name), { textContent, ...others });

export function svg(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function button(text, act, attributes = {}) {
  const made = element("button", text, { type: "button" });
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.addEventListener("click", act);
  return made;
}
export const link = (text, href, others = {}) => element("a", text, { href, ...others });

// A table whose first column names its rows; cells are texts or elements.
export function table(caption, head, rows) {
  const made = element("table", "");
  made.append(element("caption", caption));
  made.createTHead().insertRow().append(...head.map((text) => element("th", text, { scope: "col" })));
  const body = made.createTBody();
  for (const [name, ...cells] of rows) {
    const row = body.insertRow();
    row.append(element("th", "", { scope: "row" }));
    row.firstChild.append(name);
    for (const cell of cells) row.insertCell().append(cell);
  }
  return made;
}

// A line that a screen reader says when it changes.
export function statusLine() {
  const made = element("p", "");
  made.setAttribute("role", "status");
  return made;
}

// The same text again would be said again.
export function setText(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

// What may be wider than a phone scrolls by itself, with the keys too.
export function scrolling(made) {
  const around = element("div", "", { className: "scrolling", tabIndex: 0, role: "region" });
  around.ariaLabel = made.caption.textContent;
  around.append(made);
  return around;
}

// A share as a bar and in words.
export function measure(share) {
  const shown = element("span", "", { className: "measure" });
  shown.append(bar([share, 1 - share], "single"), `${(100 * share).toFixed(1)} %`);
  return shown;
}

// Shares of a whole, side by side.
export function bar(shares, kind = "") {
  const box = { class: `bar ${kind}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" };
  let x = 0;
  return svg("svg", box, ...shares.map((share, number) => {
    const rect = svg("rect", { class: `share${number % 8}`, x: 100 * x, width: 100 * share, height: 10 });
    x += share;
    return rect;
  }));
}
