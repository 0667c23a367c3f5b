// A game as the part of an address after #: moves=44352&x=human&o=tree.

import { Board, Position } from "./rules.js";

export function parseAddress(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const board = new Board(given.get("board") ?? "7x6", Number(given.get("connect") ?? 4));
  const seed = Number(given.get("seed") ?? 0);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("a seed is a whole number");
  const other = board.size === "7x6" && board.connect === 4 ? "tree" : "mcts:10000";
  return {
    position: Position.parse(given.get("moves") ?? "", board),
    players: [given.get("x") ?? "human", given.get("o") ?? other],
    seed,
  };
}

export function formatAddress({ position, players, seed }) {
  const { board } = position;
  const words = { moves: position.notation, x: players[0], o: players[1] };
  if (board.size !== "7x6") words.board = board.size;
  if (board.connect !== 4) words.connect = board.connect;
  if (seed) words.seed = seed;
  // Player specs stay readable: these signs need no escape after #.
  return `#${new URLSearchParams(words)}`.replaceAll("%3A", ":").replaceAll("%2C", ",")
    .replaceAll("%3D", "=");
}
