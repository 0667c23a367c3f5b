// Beside the game: its review and practice, which have the board while they are open, its branches,
// and taking it away.

import { Branches } from "./branches.js";
import { Practice } from "./practice.js";
import { Review } from "./review.js";
import { TakeAway } from "./take_away.js";
import { canSolve } from "./values.js";

const part = (id) => document.getElementById(id);

export class Study {
  // `page` draws, asks, and goes on with a game: from a place of it, or after what was open.
  constructor(page) {
    this.page = page;
    this.open = null;
    const desk = {
      draw: page.draw,
      ask: page.ask,
      close: () => this.close(),
      playOn: (position, line) => page.goTo(position.moves, line.slice(position.moves.length)),
    };
    this.practice = new Practice(part("practice"), desk);
    const keep = (move, position, people) => {
      if (people[move.side - 1]) this.practice.puzzles.add(position, move.played, move.values);
    };
    this.review = new Review(part("review-panel"), desk, keep);
    this.branches = new Branches(part("branches"), page.goTo);
    this.takeAway = new TakeAway(part("take-away"), page.game);
  }

  get canReview() {
    const { position } = this.page.game();
    return position.moves.length > 0 && canSolve(position);
  }

  // The game has gone on: what is open closes.
  changed(game) {
    this.open = null;
    this.branches.record(game);
  }

  openReview(signal) {
    this.open = this.review;
    this.review.open(this.page.game());
    return this.review.ask(signal);
  }

  openPractice() {
    this.open = this.practice;
    this.practice.open();
  }

  close() {
    const opener = part(this.open === this.review ? "review" : "practise");
    this.page.goOn();
    opener.focus();
  }

  draw() {
    part("review-panel").hidden = this.open !== this.review;
    part("practice").hidden = this.open !== this.practice;
    part("controls").hidden = this.open !== null;
    const left = this.practice.puzzles.left;
    part("practise").textContent = left ? `Practise (${left})` : "Practise";
    this.open?.draw();
    this.takeAway.draw();
  }
}
