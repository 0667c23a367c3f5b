// The review of a game: its value after every move as a graph, and its mistakes.

import { button, element, setText, statusLine, table } from "./dom.js";
import { Graph } from "./graph.js";
import { HUMAN } from "./seats.js";
import { Position } from "./rules.js";
import { columnsOf, countOf, lossOf, RESULTS, signOf } from "./results.js";

// Beyond this stone a position is solved at once: ask for several.
const CHEAP = 20;

// What the server said of moves, by the game up to the move.
const answers = new Map();
const MOST_ANSWERS = 2000;

export class Review {
  // `page` draws, asks, closes, and plays on from a position; `found` gets each mistake once.
  constructor(root, page, found) {
    Object.assign(this, { root, page, found });
    this.progress = element("p", "");
    this.said = statusLine();
    this.here = statusLine();
    this.graph = new Graph((at) => this.goTo(at));
    this.lists = element("div", "");
    this.table = element("details", "");
    const steps = element("div", "", { className: "controls" });
    steps.append(
      button("◀", () => this.goTo(this.at - 1), { "aria-label": "Previous move", title: "←" }),
      button("▶", () => this.goTo(this.at + 1), { "aria-label": "Next move", title: "→" }),
      button("◀ mistake", () => this.goToMistake(-1), { "aria-label": "Previous mistake", title: "N" }),
      button("mistake ▶", () => this.goToMistake(1), { "aria-label": "Next mistake", title: "n" }),
    );
    const leave = element("div", "", { className: "controls" });
    leave.append(
      button("Play on from here", () => this.page.playOn(this.position, this.line)),
      button("Close the review", () => this.page.close(), { title: "Escape" }),
    );
    const title = element("h2", "Review", { id: `${root.id}-title` });
    root.append(title, this.progress, this.said, this.graph.root, this.here, steps, this.lists, this.table, leave);
  }

  open(game) {
    const { board, moves } = game.position;
    Object.assign(this, { board, line: moves, names: [game.name(1), game.name(2)] });
    this.people = game.players.map((player) => player === HUMAN);
    this.moves = moves.map((played, index) => ({ number: index + 1, side: 1 + (index % 2), played }));
    this.at = moves.length;
    this.isDone = false;
    this.isStopped = false;
    this.page.draw();
    this.graph.focus();
  }

  // Ask from the end, where solving is cheap; what is known already is not asked again.
  async ask(signal) {
    try {
      for (let left = this.line.length; left > 0 && !signal.aborted; this.page.draw()) {
        left -= await this.#askLast(left, signal);
        this.isDone = left === 0;
      }
    } catch (error) {
      this.isStopped = true;
      if (!signal.aborted) this.page.draw();
      throw error;
    }
  }

  // The last of the first `left` moves; how many.
  async #askLast(left, signal) {
    const position = this.#after(left);
    const key = `${this.board.size} ${this.board.connect} ${position.notation}`;
    const last = Math.max(1, left - CHEAP);
    const moves = answers.get(key) ?? (await this.page.ask("review", { position, last }, signal)).moves;
    if (answers.size > MOST_ANSWERS) answers.clear();
    if (moves.every(isKnown)) answers.set(key, moves);
    for (const move of moves) {
      this.moves[move.number - 1] = move;
      if (move.better.length) this.found(move, this.#after(move.number - 1), this.people);
    }
    return moves.length;
  }

  get position() {
    return this.#after(this.at);
  }

  #after(number) {
    return new Position(this.board, this.line.slice(0, number));
  }

  get scene() {
    const { position, at } = this;
    const move = this.moves[at - 1];
    if (!move) return { position, isTurn: false, last: null };
    const before = this.#after(at - 1);
    const marked = (move.better ?? []).map((column) => [column, before.landing(column)]);
    const last = [move.played, before.landing(move.played)];
    const results = move.values?.map((value) => RESULTS[value] ?? null);
    return { position, isTurn: false, last, marked, results };
  }

  get status() {
    return this.at ? `Review: stone ${this.at} of ${this.line.length}` : "Review: before the first stone";
  }

  choose() {
    this.here.textContent = "The board only shows the game now: play on from here, or press Escape.";
  }

  key(key) {
    const acts = {
      ArrowLeft: () => this.goTo(this.at - 1),
      ArrowRight: () => this.goTo(this.at + 1),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.line.length),
      n: () => this.goToMistake(1),
      N: () => this.goToMistake(-1),
      Escape: () => this.page.close(),
    };
    acts[key]?.();
    return key in acts;
  }

  goTo(at) {
    this.at = Math.max(0, Math.min(at, this.line.length));
    this.page.draw();
  }

  goToMistake(step) {
    const isThere = (move) => move.kind && (move.number - this.at) * step > 0;
    const next = this.moves[step > 0 ? "find" : "findLast"](isThere);
    if (next) return this.goTo(next.number);
    this.here.textContent = `There is no ${step > 0 ? "further" : "earlier"} mistake${this.isDone ? "" : " so far"}.`;
  }

  draw() {
    const mistakes = this.moves.filter((move) => move.kind);
    const asked = this.moves.filter((move) => move.phase);
    const unknown = asked.filter(({ value, left }) => value === null || left === null).map(({ number }) => number);
    const open = unknown.length ? `; not known in time: stone${unknown.length > 1 ? "s" : ""} ${unknown.join(", ")}` : "";
    const wait = asked.length ? "" : "; the first answer on a board may have to compile";
    // A screen reader hears the end only.
    this.progress.hidden = this.isDone;
    this.progress.textContent = `${this.isStopped ? "Stopped" : "Solving"}: ${asked.length} of `
      + `${countOf(this.moves.length, "move")}${open}${this.isStopped ? "; review again to go on" : wait}.`;
    setText(this.said, this.isDone ? `${countOf(mistakes.length, "mistake")}${open}.` : "");
    setText(this.here, this.at ? this.#sentence(this.moves[this.at - 1]) : "The empty board.");
    this.graph.draw(valuesOf(this.moves), mistakes, this.at, this.status);
    this.#drawLists(mistakes);
    this.#drawTable();
  }

  #name(side) {
    return `${this.names[side - 1]} ${signOf(side)}`;
  }

  #sentence(move) {
    const { number, side, played } = move;
    const who = `Stone ${number}, ${this.#name(side)}, column ${played + 1}`;
    if (!move.phase) return `${who}: not solved yet.`;
    if (!move.kind) {
      if (move.left === null) return `${who}: not known in time.`;
      return `${who}: ${move.value === null ? "leaves" : "keeps"} a ${RESULTS[move.left]}.`;
    }
    return `${who}: ${lossOf(move)}. Better: ${columnsOf(move.better) || "not known in time"}.`;
  }

  // By side, and of each side by phase.
  #drawLists(mistakes) {
    const key = JSON.stringify([mistakes, this.at, this.names, this.isDone]);
    if (key === this.listed) return;
    this.listed = key;
    const { activeElement } = document;
    const focused = this.lists.contains(activeElement) && activeElement.dataset.number;
    this.lists.replaceChildren(...[1, 2].flatMap((side) => {
      const own = mistakes.filter((move) => move.side === side);
      const title = element("h3", `${this.#name(side)}: ${countOf(own.length, "mistake")}${this.isDone ? "" : " so far"}`);
      const phases = [...new Set(own.map((move) => move.phase))];
      return [title, ...phases.flatMap((phase) => {
        const list = element("ul", "", { className: "mistakes" });
        list.append(...own.filter((move) => move.phase === phase).map((move) => this.#item(move)));
        return [element("h4", `${phase.replace(" stones", "")} stones`), list];
      })];
    }));
    if (focused) this.lists.querySelector(`[data-number="${focused}"]`)?.focus();
  }

  #item(move) {
    const { number, played, kind } = move;
    const text = `${number}: column ${played + 1}, ${kind.replace("to", "→")}`;
    const name = `Stone ${number}, column ${played + 1}: ${kind}`;
    const jump = button(text, () => this.goTo(number), { "aria-label": name });
    jump.dataset.number = number;
    if (number === this.at) jump.setAttribute("aria-current", "step");
    const item = element("li", "");
    item.append(jump);
    return item;
  }

  #drawTable() {
    const key = JSON.stringify([this.moves, this.names]);
    if (key === this.tabled) return;
    this.tabled = key;
    const word = (value) => (value === null || value === undefined ? "not known" : RESULTS[value]);
    const rows = this.moves.map(({ number, side, played, value, left, kind }) =>
      [number, this.#name(side), played + 1, word(value), word(left), kind ?? ""]);
    const titles = ["stone", "side", "column", "value before", "after", "mistake"];
    const summary = element("summary", "The graph as a table");
    this.table.replaceChildren(summary, table("The value of the game for the side that moved", titles, rows));
  }
}

const isKnown = ({ value, left, kind, better }) =>
  value !== null && left !== null && (!kind || better.length > 0);

// The game value for the first player before the first move and after each; null is not known.
function valuesOf(moves) {
  const values = Array(moves.length + 1).fill(null);
  for (const { number, side, value = null, left = null } of moves) {
    const sign = side === 1 ? 1 : -1;
    if (value !== null) values[number - 1] = sign * value;
    if (left !== null) values[number] = sign * left;
  }
  return values;
}
