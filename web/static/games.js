// The games of a run: which, page by page.

import { button, scrolling, table } from "./dom.js";
import { askRun } from "./server.js";
import { counted } from "./words.js";

const PAGE = 50;
const part = (id) => document.getElementById(id);
const RESULTS = { 1: "first wins", 0: "draw", "-1": "second wins", null: "not played out" };

// Ask from where the last answer ended until `isEnough`, or until it is dropped; where to go on.
export async function scan(what, question, at, signal, isEnough) {
  while (at !== null && !signal.aborted) {
    const found = await askRun(what, { ...question, at }, signal);
    at = found.next;
    if (isEnough(found)) break;
  }
  return at;
}

// How far a scan has come.
export const readSoFar = ({ next, read, shards = 0 }) => (next === null ? "all shards are read"
  : `${counted(read)} of ${counted(shards)} shards read so far`);

export class Games {
  constructor(run, { players }, said, look) {
    Object.assign(this, { run, players, look, next: null, found: [], read: 0 });
    this.asking = new AbortController();
    const select = part("filter").elements.player;
    select.append(...(players ?? []).map((name, place) => new Option(name, place)));
    select.parentElement.hidden = !players;
    this.find = said("found", () => this.#find());
    part("filter").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find();
    });
    part("more").addEventListener("click", said("found", () => this.#goOn()));
  }

  get #question() {
    const question = { run: this.run };
    for (const [name, text] of new FormData(part("filter"))) {
      if (text.trim() === "") continue;
      question[name] = ["shortest", "longest", "player"].includes(name) ? Number(text) : text.trim();
    }
    return question;
  }

  async #find() {
    this.asking.abort();
    Object.assign(this, { question: this.#question, next: 0, found: [], read: 0, isReading: false });
    for (const format of ["jsonl", "parquet"]) {
      part(format).href = `download/games?${new URLSearchParams({ ...this.question, format })}`;
    }
    await this.#goOn();
  }

  // Fill a page; the same button stops that.
  async #goOn() {
    this.asking.abort();
    if (this.isReading) return;
    this.asking = new AbortController();
    const { signal } = this.asking;
    const full = this.found.length + PAGE;
    this.isReading = true;
    this.#draw();
    try {
      await scan("games", this.question, this.next, signal, ({ games, read, shards, next }) => {
        this.found.push(...games);
        Object.assign(this, { shards, next, read: this.read + read });
        this.#draw();
        return this.found.length >= full;
      });
    } finally {
      if (signal === this.asking.signal) this.isReading = false;
      this.#draw();
    }
  }

  #draw() {
    const rows = this.found.map((game) => {
      const look = button(counted(game.game), () => this.look(game.game));
      return [look, RESULTS[game.result], game.stones ?? "", game.opening, game.mistakes,
        ...(this.players ? game.players.map((name) => name.split(",")[0]) : []), game.moves ?? ""];
    });
    const sides = this.players ? ["first", "second"] : [];
    const header = ["game", "result", "stones", "opening", "mistakes", ...sides, "moves"];
    part("games").replaceChildren(...(rows.length ? [scrolling(table("Games found", header, rows))] : []));
    part("more").hidden = this.next === null;
    part("more").textContent = this.isReading ? "Stop" : "Go on";
    part("found").textContent = `${counted(this.found.length)} games; ${readSoFar(this)}`;
  }
}
