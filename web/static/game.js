// A game in progress: the position, who plays, and moves that were taken back.

import { Position } from "./rules.js";
import { called, HUMAN } from "./seats.js";

export class Game {
  constructor({ position, players, seed }) {
    Object.assign(this, { position, players, seed, undone: [] });
  }

  get mover() {
    return this.players[this.position.toMove - 1];
  }

  get isTurn() {
    return this.mover === HUMAN && !this.position.isOver;
  }

  get hasPerson() {
    return this.players.includes(HUMAN);
  }

  play(column) {
    const after = this.position.play(column);
    // The move that was taken back keeps what followed it.
    this.undone = this.undone.at(-1) === column ? this.undone.slice(0, -1) : [];
    this.position = after;
  }

  // The number of moves back to the last choice of a person, or the last move of two players;
  // 0 if there is none.
  get back() {
    const { moves } = this.position;
    for (let number = moves.length - 1; number >= 0; number--) {
      if (!this.hasPerson || this.players[number % 2] === HUMAN) return moves.length - number;
    }
    return 0;
  }

  undo() {
    const { board, moves } = this.position;
    const kept = moves.length - this.back;
    this.undone.push(...moves.slice(kept).reverse());
    this.position = new Position(board, moves.slice(0, kept));
  }

  redo() {
    do this.play(this.undone.at(-1));
    while (this.undone.length && this.hasPerson && !this.isTurn);
  }

  // A name for a side, as a sentence begins with it.
  name(side) {
    const player = this.players[side - 1];
    if (player !== HUMAN) return called(player);
    return this.players[2 - side] === HUMAN ? ["First player", "Second player"][side - 1] : "You";
  }

  // The last move that was not a person's: the position before it, and the column.
  get lastByPlayer() {
    const { board, moves } = this.position;
    for (let number = moves.length - 1; number >= 0; number--) {
      if (this.players[number % 2] !== HUMAN) {
        const before = new Position(board, moves.slice(0, number));
        return { before, column: moves[number], player: this.players[number % 2] };
      }
    }
    return null;
  }
}
