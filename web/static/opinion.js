// What a player thinks of each column, beside what the column is worth.

import { worthOf } from "./results.js";
import { HUMAN, parted } from "./seats.js";
import { ask } from "./server.js";

const FORMS = [
  ["ratings", (share) => `${Math.round(100 * share)} %`],
  ["value", (number) => number.toFixed(2)],
  ["evaluations", (number) => number.toFixed(1)],
];

const MOST_KNOWN = 500;
const records = new Map();
const keyOf = ({ board, notation }, player) =>
  `${board.size} ${board.connect} ${notation} ${player}`;

// Whose opinion is shown: that of a player of the game, at its best, or of the first tree, or of a
// search.
export function whose(players, { trees }) {
  const player = players.findLast((one) => one !== HUMAN);
  return parted(player ?? trees[0] ?? "mcts:1000").name;
}

const opinionKnown = (position, player) => records.get(keyOf(position, player));

export async function askOpinion(position, player, seed, signal) {
  if (opinionKnown(position, player)) return;
  const record = await ask("analyse", { position, player, seed }, signal);
  if (records.size > MOST_KNOWN) records.clear();
  records.set(keyOf(position, player), record);
}

// For every column a text, and how it disagrees with the results: "too high" if it stands above
// one that is worth more, "too low" if below one that is worth less.
function opinionOf(record, results = []) {
  const [name, form] = FORMS.find(([key]) => record[key]?.some((one) => one !== null)) ?? [];
  if (!name) return null;
  const numbers = record[name];
  const worth = numbers.map((_, column) => worthOf(results[column]));
  const isAgainst = (column, than) => numbers.some((number, other) =>
    number !== null && worth[column] !== undefined && worth[other] !== undefined
    && than(numbers[column], number) && than(worth[other], worth[column]));
  return numbers.map((number, column) => {
    if (number === null) return null;
    const isHigh = isAgainst(column, (a, b) => a > b);
    const isLow = isAgainst(column, (a, b) => a < b);
    return { text: form(number), wrong: isHigh ? "high" : isLow ? "low" : "" };
  });
}

// What stands below the board, to say what the numbers are.
function legendOf(name, record, opinion) {
  if (!opinion) return `${name} has no opinion of single columns.`;
  const what = record.ratings
    ? `The percentages: how likely ${name} thinks each column right.`
    : `The numbers: what ${name} thinks each column worth.`;
  const wrong = opinion.some((one) => one?.wrong)
    ? "≠ high: above a column that is worth more; ≠ low: below one that is worth less."
    : "";
  return `${what} ${wrong}`;
}

// The opinions of the columns, and a legend to say whose they are; none without a player.
export function showOpinion(legend, position, player, results) {
  const record = player && opinionKnown(position, player);
  const opinion = record ? opinionOf(record, results) : null;
  legend.hidden = !record;
  if (record) legend.textContent = legendOf(player, record, opinion);
  return opinion ?? [];
}
