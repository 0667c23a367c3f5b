// The puzzles of a person: positions of mistakes, kept in the browser. What is stored may be broken.

import { Board, Position } from "./rules.js";
import { recall, store } from "./storage.js";

const KEY = "puzzles";
export const MOST_PUZZLES = 200;

const keyOf = ({ board, connect, moves }) => `${board} ${connect} ${moves}`;

export class Puzzles {
  constructor() {
    this.isKept = true;
    this.all = this.#stored();
  }

  get solved() {
    return this.all.filter((puzzle) => puzzle.isSolved).length;
  }

  get left() {
    return this.all.length - this.solved;
  }

  // The oldest makes room, one that is solved first.
  add(position, played, values) {
    const { board: { size: board, connect }, notation: moves } = position;
    const puzzle = { board, connect, moves, played, values, isSolved: false };
    this.read();
    if (this.indexOf(puzzle) >= 0) return;
    if (this.all.length >= MOST_PUZZLES) {
      this.all.splice(Math.max(0, this.all.findIndex((one) => one.isSolved)), 1);
    }
    this.all.push(puzzle);
    this.#save();
  }

  solve(puzzle) {
    this.read();
    const found = this.all[this.indexOf(puzzle)];
    if (found) found.isSolved = true;
    this.#save();
  }

  empty() {
    this.all = [];
    this.#save();
  }

  indexOf(puzzle) {
    return this.all.findIndex((one) => keyOf(one) === keyOf(puzzle));
  }

  // Another page of this browser may have changed them.
  read() {
    if (this.isKept) this.all = this.#stored();
  }

  // A full or forbidden storage keeps them as long as the page is open.
  #save() {
    this.isKept = store(KEY, JSON.stringify(this.all));
  }

  #stored() {
    try {
      const stored = JSON.parse(recall(KEY) ?? "[]");
      return stored.filter(isPuzzle).slice(-MOST_PUZZLES);
    } catch {
      return [];
    }
  }
}

export function positionOf({ board, connect, moves }) {
  return Position.parse(moves, new Board(board, connect));
}

// Whether its moves are legal and its values are those of a mistake.
function isPuzzle(one) {
  try {
    const { legal, board } = positionOf(one);
    const { values, played, isSolved } = one;
    const known = legal.map((column) => values[column]);
    return values.length === board.columns
      && values.every((value, column) => legal.includes(column) ? [1, 0, -1].includes(value) : value === null)
      && legal.includes(played) && values[played] < Math.max(...known)
      && typeof isSolved === "boolean";
  } catch {
    return false;
  }
}
