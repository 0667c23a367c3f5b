// "Warn me": a person's move that gives a win or a draw away waits until the person is sure.

import { worthOf } from "./results.js";

// What a move gives away, by the results of the columns; "" if nothing, or if it is not known.
export function givenAway(results, column) {
  const known = (results ?? []).map(worthOf);
  const best = Math.max(...known.filter((worth) => worth !== undefined));
  if (known[column] === undefined || known[column] >= best) return "";
  return `That gives the ${best === worthOf("win") ? "win" : "draw"} away.`;
}

// The question and its two answers. It opens with the focus on "Take it back".
export class Warning {
  constructor(root, { takeBack, playAnyway }) {
    this.root = root;
    this.text = root.querySelector("p");
    const [back, anyway] = root.querySelectorAll("button");
    back.addEventListener("click", takeBack);
    anyway.addEventListener("click", playAnyway);
  }

  get isOpen() {
    return !this.root.hidden;
  }

  open(text) {
    this.text.textContent = text;
    this.root.hidden = false;
    this.focus();
  }

  focus() {
    this.root.querySelector("button").focus();
  }

  close() {
    this.root.hidden = true;
  }
}
