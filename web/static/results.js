// Words for game values: 1 a win, 0 a draw, -1 a loss of the side that moves.

export const RESULTS = { 1: "win", 0: "draw", "-1": "loss" };

const WORTH = { loss: 0, draw: 1, win: 2 };

// What a result such as "win in 5" is worth beside others; undefined if it is not known.
export const worthOf = (result) => WORTH[result?.split(" ")[0]];

export const signOf = (side) => (side === 1 ? "●" : "○");

export const countOf = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

export function columnsOf(columns) {
  const names = columns.map((column) => column + 1);
  const last = names.pop();
  if (last === undefined) return "";
  return names.length ? `columns ${names.join(", ")} and ${last}` : `column ${last}`;
}

// What a mistake gives away, and what is left.
export function lossOf({ value, left }) {
  return `gives away the ${RESULTS[value]}: ${left === 0 ? "a draw is left" : "the other side wins"}`;
}
