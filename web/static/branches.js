// The branches of a game: what was tried after a move was taken back, as a folded list.

import { button, element } from "./dom.js";
import { Position } from "./rules.js";
import { countOf, signOf } from "./results.js";

const MOST_SHOWN = 8;

const node = () => ({ next: new Map(), latest: null, isFolded: false });

export class Branches {
  // `goTo` gets the moves of the place that was chosen, and those that were played from there.
  constructor(root, goTo) {
    Object.assign(this, { root, goTo });
    this.list = element("div", "");
    root.append(element("h2", "Branches", { id: `${root.id}-title` }), this.list);
    this.game = null;
  }

  // Another game has branches of its own.
  record(game) {
    if (game !== this.game) Object.assign(this, { game, top: node() });
    const { board, moves } = game.position;
    this.board = board;
    let at = this.top;
    for (const column of moves) {
      if (!at.next.has(column)) at.next.set(column, node());
      at.latest = column;
      at = at.next.get(column);
    }
    this.root.hidden = !hasBranch(this.top);
    if (!this.root.hidden) this.#draw(moves);
  }

  #draw(moves) {
    const buttons = () => [...this.list.querySelectorAll("button")];
    const focused = buttons().indexOf(document.activeElement);
    this.current = moves;
    // The moves that all have in common come first, if there are any.
    const common = this.#follow(this.top, []);
    const starts = common.path.length ? [[]] : [...this.top.next.keys()].map((column) => [column]);
    this.list.replaceChildren(this.#listOf(starts));
    buttons()[focused]?.focus();
  }

  // From a place to where ways part, or the end.
  #follow(at, path) {
    const followed = [...path];
    while (at.next.size === 1) {
      const [[column, next]] = at.next;
      followed.push(column);
      at = next;
    }
    return { at, path: followed };
  }

  #find(path) {
    return path.reduce((at, column) => at.next.get(column), this.top);
  }

  #listOf(starts) {
    const list = element("ul", "");
    list.append(...starts.map((start) => this.#item(start)));
    return list;
  }

  #item(start) {
    const { at, path } = this.#follow(this.#find(start), start);
    const since = Math.max(0, start.length - 1);
    const item = element("li", "");
    item.append(this.#button(at, path, since));
    if (!at.next.size) return item;
    const fold = element("details", "", { open: !at.isFolded });
    fold.addEventListener("toggle", () => { at.isFolded = !fold.open; });
    fold.append(element("summary", countOf(at.next.size, "way") + " on"));
    fold.append(this.#listOf([...at.next.keys()].map((column) => [...path, column])));
    item.append(fold);
    return item;
  }

  #button(at, path, since) {
    const moves = path.slice(since).map((column) => column + 1);
    const shown = moves.length > MOST_SHOWN ? [...moves.slice(0, MOST_SHOWN), "…"] : moves;
    const from = since + 1;
    const stones = from === path.length ? `${from}` : `${from}–${path.length}`;
    const end = this.#endOf(path);
    const jump = button(`${stones}: ${shown.join(" ")}${end}`, () => this.goTo(path, onFrom(at)));
    const places = `Stone${from === path.length ? "" : "s"} ${stones.replace("–", " to ")}`;
    jump.setAttribute("aria-label", `${places}: columns ${moves.join(", ")}${end}`);
    const isHere = this.current.length > since && this.current.length <= path.length
      && this.current.every((column, index) => path[index] === column);
    if (isHere) jump.setAttribute("aria-current", "true");
    return jump;
  }

  #endOf(path) {
    const position = new Position(this.board, path);
    if (position.winner) return `, ${signOf(position.winner)} wins`;
    return position.isOver ? ", a draw" : "";
  }
}

const hasBranch = (at) => at.next.size > 1 || [...at.next.values()].some(hasBranch);

// What was last played from a place on.
function onFrom(at) {
  const moves = [];
  for (; at.latest !== null; at = at.next.get(at.latest)) moves.push(at.latest);
  return moves;
}
