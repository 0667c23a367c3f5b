// A position of a run: where it occurs, what was played and how it ended; and a game, row by row.

import { formatAddress } from "./address.js";
import { BoardView } from "./board.js";
import { button, scrolling, table } from "./dom.js";
import { readSoFar, scan } from "./games.js";
import { Board, Position } from "./rules.js";
import { askRun } from "./server.js";
import { counted, percent, tableOf } from "./words.js";

const SAMPLES = 5;
const part = (id) => document.getElementById(id);

export class Explorer {
  constructor(run, { board, connect }, said) {
    Object.assign(this, { run, said, game: null, line: [], asking: new AbortController() });
    this.position = new Position(new Board(board, connect));
    this.view = new BoardView(part("board"), (column) => this.#play(column));
    const to = (count) => () => this.#go(this.line.slice(0, count(this.position.moves.length)));
    part("first").addEventListener("click", to(() => this.game?.opening ?? 0));
    part("back").addEventListener("click", to((stones) => Math.max(0, stones - 1)));
    part("forth").addEventListener("click", to((stones) => stones + 1));
    part("read").addEventListener("click", said("seen", () => this.#read()));
    this.showGame = said("seen", (game) => this.#showGame(game));
    this.#go([]);
  }

  async #showGame(number) {
    this.game = await askRun("game", { run: this.run, game: number });
    const { board } = this.position;
    this.line = this.game.moves === null ? [] : Position.parse(this.game.moves, board).moves;
    this.#go(this.line.slice(0, this.game.opening));
    part("position").scrollIntoView();
  }

  #play(column) {
    if (this.position.legal.includes(column)) this.#go([...this.position.moves, column]);
  }

  // Show the position after these moves; the line goes on if it has them.
  #go(moves) {
    if (!moves.every((column, place) => this.line[place] === column)) this.line = moves;
    this.position = new Position(this.position.board, moves);
    Object.assign(this, { next: 0, read: 0, count: 0, columns: [], samples: [] });
    this.#draw();
    this.said("seen", () => this.#read(true))();
  }

  // Look into more shards, as far as one answer goes, or until it is stopped.
  async #read(isOnce = false) {
    this.asking.abort();
    if (this.isReading && !isOnce) return;
    this.asking = new AbortController();
    const { signal } = this.asking;
    const question = { run: this.run, moves: this.position.notation };
    this.isReading = true;
    try {
      await scan("explore", question, this.next, signal, (found) => {
        Object.assign(this, { next: found.next, shards: found.shards, read: this.read + found.read });
        this.count += found.count;
        this.samples = [...this.samples, ...found.samples].slice(0, SAMPLES);
        found.columns.forEach((more, column) => {
          const sum = (this.columns[column] ??= {});
          for (const [name, many] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + many;
        });
        this.#drawCounts();
        return isOnce;
      });
    } finally {
      if (signal === this.asking.signal) this.isReading = false;
      this.#drawCounts();
    }
  }

  #draw() {
    const { position, game, line } = this;
    const { moves, notation } = position;
    const last = moves.at(-1);
    const at = last === undefined ? null : [last, position.landing(last) - 1];
    this.view.draw({ position, isTurn: !position.isOver, last: at });
    const row = game?.rows.find((one) => one.moves === notation);
    const stones = `${moves.length} ${moves.length === 1 ? "stone" : "stones"}`;
    part("place").textContent = moves.length ? `${notation}: ${stones}` : "The empty board";
    part("open").href = `./${formatAddress({ position, players: ["human", "human"], seed: 0 })}`;
    part("back").setAttribute("aria-disabled", String(!moves.length));
    part("forth").setAttribute("aria-disabled", String(line.length <= moves.length));
    part("game-title").hidden = !row;
    if (row) {
      const played = row.played === null ? "none was played" : `column ${row.played + 1} was played`;
      part("game-title").textContent =
        `In game ${counted(game.game)}: the teacher's move is column ${row.move + 1}; ${played}`;
    }
    const visits = row?.visits.some((count) => count) ? row.visits : null;
    part("row").replaceChildren(...(row ? tableOf({ ...row, visits }) : []));
    this.#drawCounts();
  }

  #drawCounts() {
    const rows = this.columns.flatMap((found, column) => {
      if (!found.played && !found.chosen) return [];
      const play = button(column + 1, () => this.#play(column));
      const ended = found.wins + found.draws + found.losses;
      return [[play, ...["played", "chosen", "wins", "draws", "losses"].map((key) => counted(found[key])),
        ended ? percent((found.wins + found.draws / 2) / ended) : ""]];
    });
    const header = ["column", "played", "teacher", "won", "drawn", "lost", "score"];
    part("explored").replaceChildren(...(rows.length ? [scrolling(table("Columns played", header, rows))] : []));
    part("read").hidden = this.next === null;
    part("read").textContent = this.isReading ? "Stop" : "Go on";
    const games = this.samples.map((game) => button(counted(game), () => this.showGame(game)));
    part("samples").replaceChildren(...(games.length ? ["such as in game ", ...games] : []));
    part("seen").textContent = `Occurrences, mirror images too: ${counted(this.count)}; ${readSoFar(this)}`;
  }
}
