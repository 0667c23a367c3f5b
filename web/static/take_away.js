// A game to take away: its moves, its address, and a file that `selfplay play --replay` reads.

import { button, element, statusLine } from "./dom.js";

const FILE = "connect-four.txt";

// A line of a file of games, as cli/board/saved_games.py reads it.
export function lineOfGame({ position, players }) {
  const { board, notation, winner, isOver } = position;
  const result = winner ? `${" XO"[winner]} wins` : isOver ? "a draw" : "unfinished";
  const parts = [notation, ...players, result];
  if (board.size !== "7x6" || board.connect !== 4) parts.push(`${board.size} connect ${board.connect}`);
  return parts.join("\t");
}

export class TakeAway {
  constructor(root, game) {
    this.game = game;
    this.moves = element("code", "", { className: "line", tabIndex: 0 });
    this.moves.setAttribute("aria-label", "The moves");
    this.said = statusLine();
    const controls = element("div", "", { className: "controls" });
    controls.append(
      button("Copy the moves", () => this.#copy(this.game().position.notation, "The moves")),
      button("Copy the link", () => this.#copy(location.href, "The link")),
      button("Download", () => this.#download()),
    );
    const [replay, record] = ["To step through it in a terminal: ", "With "].map((text) => element("p", text));
    replay.append(element("code", `selfplay play --replay ${FILE}`));
    record.append(element("code", "--record RUN"), " its moves become a run to train on.");
    root.append(element("summary", "Take the game away"), this.moves, controls, this.said, replay, record);
  }

  draw() {
    const { notation } = this.game().position;
    if (this.moves.textContent === notation) return;
    this.moves.textContent = notation;
    this.said.textContent = "";
  }

  // Only a page of this machine, or an encrypted one, may write to the clipboard.
  async #copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.said.textContent = `${what}: copied.`;
    } catch {
      this.said.textContent = `The browser does not let the page copy. ${what}: ${text}`;
    }
  }

  #download() {
    const file = new Blob([`${lineOfGame(this.game())}\n`], { type: "text/plain" });
    const link = element("a", "", { href: URL.createObjectURL(file), download: FILE });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.said.textContent = `Saved as ${FILE}.`;
  }
}
