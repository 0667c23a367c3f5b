// A small board to look at: cells row by row from the top left, and a move in question.

import { circle, disc, SIDES } from "./board.js";
import { svg } from "./dom.js";

export function smallBoard({ cells, moves, column, to_move: side }, columns) {
  const rows = cells.length / columns;
  const [width, height] = [columns * 10, rows * 10];
  const place = (x, y) => `translate(${x * 10 + 5} ${y * 10 + 5})`;
  const move = column === undefined ? "" : `, then column ${column + 1} by the ${SIDES[side]} player`;
  const label = `${moves === "" ? "The empty board" : `The position ${moves ?? ""}`}${move}`;
  const box = { class: "small", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
  const board = svg("svg", box, svg("rect", { class: "frame", width, height, rx: 2 }));
  cells.forEach((cell, index) => {
    const at = place(index % columns, Math.floor(index / columns));
    const stone = svg("g", { class: "disc" }, ...disc());
    board.append(svg("g", { class: `cell ${SIDES[cell]}`, transform: at }, circle("empty", 4.2), stone));
  });
  if (column !== undefined) {
    const row = cells.filter((cell, index) => index % columns === column && !cell).length - 1;
    const ghost = { class: `ghost ${SIDES[side]}`, transform: place(column, row) };
    board.append(svg("g", ghost, circle("body", 4)));
  }
  return board;
}
