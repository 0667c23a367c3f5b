// The value of a game after each move, as a graph that is a slider.

import { element, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [420, 120];
const LEVELS = { 1: 20, 0: 60, "-1": 100 };

export class Graph {
  // `goTo` gets the number of stones of the place that was chosen.
  constructor(goTo) {
    this.goTo = goTo;
    this.drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    const scale = element("div", "", { className: "scale" });
    scale.setAttribute("aria-hidden", "true");
    scale.append(...["● wins", "draw", "○ wins"].map((text) => element("span", text)));
    this.slider = element("div", "", { className: "slider", tabIndex: 0 });
    this.slider.setAttribute("role", "slider");
    this.slider.setAttribute("aria-label", "Stones of the game. Left and right step, n and N go to mistakes.");
    this.slider.setAttribute("aria-valuemin", "0");
    this.slider.append(this.drawing);
    this.root = element("div", "", { className: "graph" });
    this.root.append(scale, this.slider);
    for (const kind of ["pointerdown", "pointermove"]) {
      this.slider.addEventListener(kind, (event) => this.#point(event));
    }
  }

  focus() {
    this.slider.focus();
  }

  #point({ type, clientX, buttons }) {
    if (type === "pointermove" && !buttons) return;
    const { left, width } = this.drawing.getBoundingClientRect();
    const at = Math.floor(((clientX - left) / width) * this.slots);
    if (at !== this.at) this.goTo(at);
  }

  // `values` are the first player's: before the first stone and after each.
  draw(values, mistakes, at, name) {
    this.slots = values.length;
    this.at = at;
    this.slider.setAttribute("aria-valuemax", String(values.length - 1));
    this.slider.setAttribute("aria-valuenow", String(at));
    this.slider.setAttribute("aria-valuetext", name);
    const wide = WIDTH / values.length;
    const here = { class: "here", x: at * wide, y: 1, width: wide, height: HEIGHT - 2, rx: 2 };
    const line = svg("path", { class: "line", d: pathOf(values, wide) });
    const rules = Object.values(LEVELS).map((y) => svg("line", { class: "level", x2: WIDTH, y1: y, y2: y }));
    const marks = mistakes.map((move) => markOf(move, values[move.number], wide));
    this.drawing.replaceChildren(...rules, ...gapsOf(values, wide), line, svg("rect", here), ...marks);
  }
}

// A step for each place whose value is known, joined to its neighbours.
function pathOf(values, wide) {
  return values.map((value, index) => {
    if (value === null) return "";
    const isJoined = index > 0 && values[index - 1] !== null;
    return `${isJoined ? "V" : `M${index * wide} `}${LEVELS[value]}H${(index + 1) * wide}`;
  }).join("");
}

// A box with a question mark over each run of places whose value is not known.
function gapsOf(values, wide) {
  const gaps = [];
  for (let start = 0; start < values.length; start++) {
    if (values[start] !== null) continue;
    let end = start;
    while (end < values.length && values[end] === null) end++;
    const x = start * wide;
    const width = (end - start) * wide;
    const sign = svg("text", { x: x + width / 2, y: HEIGHT / 2 + 6 });
    sign.textContent = "?";
    const box = svg("rect", { x: x + 1, y: 10, width: width - 2, height: 100, rx: 3 });
    gaps.push(svg("g", { class: "gap" }, box, sign));
    start = end;
  }
  return gaps;
}

// The stone of the side that made the mistake.
function markOf({ number, side }, value, wide) {
  const kind = `mistake ${["", "first", "second"][side]}`;
  const transform = `translate(${number * wide} ${LEVELS[value]})`;
  return svg("g", { class: kind, transform }, svg("circle", { class: "body", r: 7 }), svg("circle", { class: "hole", r: 2.8 }));
}
