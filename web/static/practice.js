// Practice: a person's own mistakes as puzzles. Every move that keeps the game value solves one.

import { button, element, setText, statusLine } from "./dom.js";
import { MOST_PUZZLES, positionOf, Puzzles } from "./puzzles.js";
import { columnsOf, lossOf, RESULTS, signOf } from "./results.js";

export class Practice {
  constructor(root, page) {
    Object.assign(this, { root, page, puzzles: new Puzzles(), puzzle: null });
    this.count = element("p", "");
    this.said = statusLine();
    this.next = button("Next puzzle", () => this.#goOn());
    this.show = button("Show the values", () => this.#showValues());
    this.empty = button("Remove all puzzles", () => this.#empty());
    const controls = element("div", "", { className: "controls" });
    this.close = button("Close practice", () => this.page.close(), { title: "Escape" });
    controls.append(this.next, this.show, this.close, this.empty);
    const title = element("h2", "Practice", { id: `${root.id}-title` });
    root.append(title, this.count, this.said, controls);
  }

  open() {
    this.#goOn();
    (this.puzzle ? this.next : this.close).focus();
  }

  // The next puzzle that is not solved, or else the next one.
  #goOn() {
    this.puzzles.read();
    const { all } = this.puzzles;
    const since = this.puzzle ? this.puzzles.indexOf(this.puzzle) + 1 : 0;
    const after = all.map((_, index) => all[(since + index) % all.length]);
    this.puzzle = after.find((puzzle) => !puzzle.isSolved) ?? after[0] ?? null;
    this.tried = null;
    this.isShown = false;
    this.text = "";
    this.position = this.puzzle ? positionOf(this.puzzle) : null;
    if (this.puzzle) this.value = Math.max(...this.position.legal.map((column) => this.puzzle.values[column]));
    this.page.draw();
  }

  #showValues() {
    this.isShown = true;
    this.text = `The ${RESULTS[this.value]} needs ${columnsOf(this.#keeping()).replace(" and ", " or ")}.`;
    this.next.focus();
    this.page.draw();
  }

  #empty() {
    if (!confirm(`Remove all ${this.puzzles.all.length} puzzles from this browser?`)) return;
    this.puzzles.empty();
    this.#goOn();
    this.close.focus();
  }

  #keeping() {
    return this.position.legal.filter((column) => this.puzzle.values[column] === this.value);
  }

  get isDone() {
    return this.tried !== null && this.puzzle.values[this.tried] === this.value;
  }

  get scene() {
    if (!this.puzzle) return null;
    const { position, tried } = this;
    const isShown = this.isShown || this.isDone;
    const shown = this.isDone ? position.play(tried) : position;
    const column = shown.moves.at(-1);
    return {
      position: shown,
      isTurn: !this.isDone,
      last: column === undefined ? null : [column, shown.landing(column) - 1],
      results: isShown ? this.puzzle.values.map((value) => RESULTS[value] ?? null) : [],
    };
  }

  get status() {
    if (!this.puzzle) return "No puzzles yet";
    const { toMove } = this.position;
    const wanted = `${signOf(toMove)} to move: keep the ${RESULTS[this.value]}`;
    return this.isDone ? "Solved" : wanted;
  }

  choose(column) {
    if (!this.puzzle) return this.page.close();
    if (this.isDone) return;
    if (!this.position.legal.includes(column)) {
      this.text = `Column ${column + 1} is full.`;
      return this.page.draw();
    }
    this.tried = column;
    const left = this.puzzle.values[column];
    if (!this.isDone) {
      this.text = `Column ${column + 1} ${lossOf({ value: this.value, left })}. Try again.`;
      return this.page.draw();
    }
    const others = this.#keeping().filter((one) => one !== column);
    const also = others.length ? ` So ${others.length === 1 ? "does" : "do"} ${columnsOf(others)}.` : "";
    this.text = `Right: column ${column + 1} keeps the ${RESULTS[this.value]}.${also}`;
    if (!this.isShown) this.puzzles.solve(this.puzzle);
    this.next.focus();
    this.page.draw();
  }

  key(key) {
    if (key === "Escape") this.page.close();
    else if (key === "n") this.#goOn();
    else return false;
    return true;
  }

  draw() {
    const { all, solved, isKept } = this.puzzles;
    const lost = !isKept ? " This browser keeps them only while the page is open." : "";
    const many = all.length === MOST_PUZZLES ? " There is no room for more: a new one replaces an old one." : "";
    setText(this.count, all.length
      ? `Puzzle ${this.puzzles.indexOf(this.puzzle) + 1} of ${all.length}; ${solved} solved.${many}${lost}`
      : "Review a game: each of your mistakes becomes a puzzle, kept in this browser.");
    const hint = this.puzzle ? `Your move here was column ${this.puzzle.played + 1}.` : "";
    setText(this.said, this.text || hint);
    for (const part of [this.next, this.show, this.empty]) part.hidden = !this.puzzle;
    this.show.hidden ||= this.isShown || this.isDone;
  }
}
