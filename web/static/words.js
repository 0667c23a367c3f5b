// What the page says: whose turn it is, what was played, what a player knows.

import { element, table } from "./dom.js";
import { Position } from "./rules.js";

export function statusOf(game, isPaused) {
  const { position } = game;
  const side = position.winner ?? position.toMove;
  const [name, sign] = [game.name(side), side === 1 ? "●" : "○"];
  if (position.winner) return `${name} ${sign} ${name === "You" ? "win" : "wins"}`;
  if (position.isOver) return "A draw";
  if (game.isTurn) return name === "You" ? `Your turn ${sign}` : `${name} ${sign} to move`;
  return `${name} ${sign} is ${isPaused ? "paused" : "thinking"}`;
}

// What a log says of each move: who, which column, and what it threatens.
export function sentencesOf(game) {
  const { board, moves } = game.position;
  let at = new Position(board);
  return moves.map((column) => {
    const side = at.toMove;
    at = at.play(column);
    const who = game.name(side);
    const isYou = who === "You";
    const text = `${who}: column ${column + 1}.`;
    if (at.winner) return `${text} ${who} ${isYou ? "win" : "wins"}.`;
    if (at.isOver) return `${text} A draw.`;
    const threats = at.threats(side).map((threat) => threat + 1);
    if (!threats.length) return text;
    return `${text} ${isYou ? "You threaten" : "It threatens"} column ${threats.join(" and ")}.`;
  });
}

export const counted = (number) => number?.toLocaleString("en") ?? "";

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

export const rangeOf = (ends, form = (end) => percent(end, 1)) => ends?.map(form).join(" to ") ?? "unknown";

// Where the board shows these moves.
export function boardAddress(moves, { board, connect }, player = "human") {
  const words = { moves, x: "human", o: player };
  if (board !== "7x6") words.board = board;
  if (connect !== 4) words.connect = connect;
  return `./#${new URLSearchParams(words)}`.replaceAll("%2C", ",");
}

export function sentencesOfSearch({ iterations, visits, value, move, nodes }) {
  if (iterations && visits) {
    return [`Of ${counted(iterations)} visits, column ${move + 1} had ${counted(visits[move])}.`];
  }
  if (nodes) return [`It searched ${counted(nodes)} positions.`];
  return value ? ["It knows the value of every column."] : ["It gives no reasons."];
}

export const paragraphs = (sentences) => sentences.map((text) => element("p", text));

// What a search knows of each column, or how a tree rates it.
export function tableOf({ ratings, visits, value, evaluations, proven }) {
  const words = { 1: "▲ win", 0: "◆ draw", "-1": "▼ loss" };
  const found = [
    ["rating", ratings, (share) => `${Math.round(100 * share)} %`],
    ["visits", visits, counted],
    ["value", value, (number) => number.toFixed(2)],
    ["evaluation", evaluations, (number) => number.toFixed(1)],
    ["proven", proven, (result) => words[result]],
  ].filter(([, numbers]) => numbers?.some((number) => number !== null));
  if (!found.length) return [];
  const head = ["column", ...found.map(([name]) => name)];
  const rows = found[0][1].map((_, column) => [
    `${column + 1}`,
    ...found.map(([, numbers, form]) => (numbers[column] === null ? "" : form(numbers[column]))),
  ]);
  return [table("What it knows of each column", head, rows)];
}
