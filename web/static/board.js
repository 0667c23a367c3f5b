// The board as SVG, and a real button over each column.

import { element, svg } from "./dom.js";

export const SIDES = ["", "first", "second"];

export const circle = (name, r) => svg("circle", { class: name, r });

// The second player's disc has a hole.
export const disc = () => [circle("body", 4.2), circle("hole", 1.7)];

// "win in 5" as a screen reader says it.
function spoken(result) {
  const [word, ...rest] = result.split(" ");
  return [{ win: "wins", draw: "draws", loss: "loses" }[word], ...rest].join(" ");
}

// A line of moves as numbered discs.
export function lineOf(position, line) {
  const ghosts = [];
  for (const column of line) {
    const [row, side] = [position.landing(column), position.toMove];
    ghosts.push({ column, row, side, number: ghosts.length + 1 });
    position = position.play(column);
  }
  return ghosts;
}

export class BoardView {
  // `play` gets the column of a click; the buttons stay where they are for the whole game.
  constructor(root, play) {
    this.root = root;
    this.play = play;
    this.size = "";
    this.shown = 0;
    this.hovered = null;
    this.splits = new Set();
    this.cells = [];
  }

  draw({ position, isTurn, last, marked = [], ghosts = [], results = [], opinions = [] }) {
    if (this.size !== position.board.size) this.#build(position.board);
    this.position = position;
    this.isTurn = isTurn;
    if (position.moves.length !== this.shown) {
      this.falling = position.moves.length === this.shown + 1 ? `${last}` : null;
      this.shown = position.moves.length;
    }
    const rings = new Set(position.line.map(String));
    const why = new Set(marked.map(String));
    for (const { column, row, cell } of this.cells) {
      const side = position.at(column, row);
      const key = `${[column, row]}`;
      const states = {
        wins: rings.has(key),
        why: why.has(key),
        split: this.splits.has(key),
        last: key === `${last}`,
        falls: key === this.falling,
      };
      const shown = Object.keys(states).filter((state) => states[state]);
      cell.setAttribute("class", ["cell", SIDES[side], ...shown].join(" "));
      cell.style.setProperty("--fall", `${(position.board.rows - row) * 10}px`);
    }
    this.#drawGhosts(ghosts);
    this.root.classList.toggle("has-opinions", opinions.length > 0);
    this.buttons.forEach((button, column) => {
      this.#label(button, column, results[column], opinions[column]);
    });
    this.hover(this.hovered);
  }

  // Mark the cells of a condition on the path, until others are.
  mark(cells) {
    this.splits = new Set(cells.map(String));
    for (const { column, row, cell } of this.cells) {
      cell.classList.toggle("split", this.splits.has(`${[column, row]}`));
    }
  }

  // Show where a disc would land.
  hover(column) {
    const { position } = this;
    this.hovered = column;
    const shows = column !== null && this.isTurn && position.legal.includes(column);
    this.shadow.setAttribute("class", shows ? `shadow ${SIDES[position.toMove]}` : "shadow none");
    if (shows) this.shadow.setAttribute("transform", this.#at(column, position.landing(column)));
  }

  focus(column) {
    this.buttons[Math.max(0, Math.min(column, this.buttons.length - 1))].focus();
  }

  #at(column, row) {
    return `translate(${column * 10 + 5} ${(this.rows - 1 - row) * 10 + 5})`;
  }

  #build({ size, columns, rows }) {
    Object.assign(this, { size, rows, cells: [], buttons: [] });
    const [width, height] = [columns * 10, rows * 10];
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    drawing.append(svg("rect", { class: "frame", width, height, rx: 2 }));
    for (let column = 0; column < columns; column++) {
      for (let row = 0; row < rows; row++) {
        const place = { transform: this.#at(column, row) };
        const [empty, mark] = ["empty", "mark"].map((name) => circle(name, 4.2));
        const cell = svg("g", place, empty, svg("g", { class: "disc" }, ...disc()), mark);
        drawing.append(cell);
        this.cells.push({ column, row, cell });
      }
    }
    this.shadow = svg("g", {}, ...disc());
    this.ghosts = svg("g", {});
    drawing.append(this.shadow, this.ghosts);
    const places = element("div", "", { className: "columns" });
    for (let column = 0; column < columns; column++) places.append(this.#button(column));
    this.root.style.setProperty("--columns", columns);
    this.root.style.setProperty("--rows", rows);
    this.root.replaceChildren(drawing, places);
  }

  #button(column) {
    const button = element("button", "", { type: "button" });
    button.addEventListener("click", () => this.play(column));
    button.addEventListener("pointerenter", () => this.hover(column));
    button.addEventListener("pointerleave", () => this.hover(null));
    button.addEventListener("focus", () => this.hover(column));
    button.addEventListener("blur", () => this.hover(null));
    this.buttons.push(button);
    return button;
  }

  #label(button, column, result, opinion) {
    const { position } = this;
    const discs = position.columns[column].length;
    const facts = [`Column ${column + 1}`, `${discs} disc${discs === 1 ? "" : "s"}`];
    if (discs === position.board.rows) facts.push("full");
    if (result) facts.push(spoken(result));
    if (opinion) facts.push(`thought ${opinion.text}${opinion.wrong && `, too ${opinion.wrong}`}`);
    button.setAttribute("aria-label", facts.join(", "));
    button.setAttribute("aria-disabled", String(!this.isTurn || !position.legal.includes(column)));
    const isUnknown = result === null && position.legal.includes(column);
    const [word, , moves] = (result ?? (isUnknown ? "?" : "")).split(" ");
    button.className = `column ${word}`;
    const value = element("span", "", { className: "value" });
    const sign = { win: "▲", draw: "◆", loss: "▼" }[word];
    const texts = [sign, word, moves && `in ${moves}`].filter(Boolean);
    value.append(...texts.map((text) => element("span", text)));
    if (opinion) value.append(element("span", opinion.text, { className: "opinion" }));
    if (opinion?.wrong) value.append(element("span", `≠ ${opinion.wrong}`, { className: "wrong" }));
    button.replaceChildren(element("span", column + 1, { className: "number" }), value);
  }

  #drawGhosts(ghosts) {
    this.ghosts.replaceChildren(...ghosts.map(({ column, row, side, number }) => {
      const text = svg("text", { y: 1.4 });
      text.textContent = number;
      const place = { class: `ghost ${SIDES[side]}`, transform: this.#at(column, row) };
      return svg("g", place, circle("body", 4), text);
    }));
  }
}
