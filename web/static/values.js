// What the columns of positions are worth, as far as the solver has said.

import { ask } from "./server.js";

const MOST_KNOWN = 500;
const known = new Map();
const keyOf = ({ board, notation }) => `${board.size} ${board.connect} ${notation}`;

// The result of each column, such as "win in 5"; undefined if nothing is known of the position.
export const valuesKnown = (position) => known.get(keyOf(position));

// The solver takes boards of up to 64 bits.
export const canSolve = ({ board: { columns, rows } }) => (rows + 1) * columns <= 64;

// At first ("values") a win, a draw or a loss, then ("solve") in how many moves.
export async function askValues(what, position, signal) {
  const before = valuesKnown(position);
  if (before && (before.isExact || what === "values")) return;
  const found = (await ask(what, { position }, signal)).results;
  const both = found.map((result, column) => result ?? before?.[column] ?? null);
  both.isExact = what === "solve";
  if (known.size > MOST_KNOWN) known.clear();
  known.set(keyOf(position), both);
}
