// The choice of a board: columns, rows, and how many in a row win.

import { parted } from "./seats.js";
import { Board } from "./rules.js";

const [COLUMNS, ROWS, CONNECT] = [[4, 9], [4, 7], [3, 6]];

function fill(select, [least, most], value) {
  if (!select.options.length) {
    for (let number = least; number <= most; number++) select.add(new Option(number, number));
  }
  select.value = value;
}

// `root` has three selects; a board from the address may be larger than they offer.
export function showBoard(root, { size, columns, rows, connect }) {
  const selects = root.querySelectorAll("select");
  [[COLUMNS, columns], [ROWS, rows], [CONNECT, connect]].forEach(([range, value], number) => {
    fill(selects[number], range, value);
  });
  root.querySelector("summary").textContent = `Board ${size}${connect === 4 ? "" : `, ${connect} in a row`}`;
}

// The board of the selects; null, after `refuse` said why, if no line fits on it.
export function chosenBoard(root, refuse) {
  const [columns, rows, connect] = [...root.querySelectorAll("select")].map((one) => one.value);
  try {
    return new Board(`${columns}x${rows}`, Number(connect));
  } catch (error) {
    refuse(`${error.message}.`);
    return null;
  }
}

// The players of a game on another board: who is not offered there gives way to its first tree,
// or to a search.
export function seated(players, here, everywhere) {
  const gone = everywhere.filter((name) => ![...here.trees, ...here.players].includes(name));
  const other = here.trees[0] ?? "mcts:10000";
  return players.map((player) => (gone.includes(parted(player).name) ? other : player));
}
