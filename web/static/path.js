// The path through the tree, folded: a line for every condition. One that is about cells marks
// them on the board while it has the pointer or the focus.

import { element } from "./dom.js";

const named = ([column, row]) => `column ${column + 1}, row ${row + 1}`;

function condition(text, cells, mark) {
  if (!cells.length) return element("li", text);
  const item = element("li", "", { className: "marks" });
  const button = element("button", text, { type: "button", className: "condition" });
  button.setAttribute("aria-label", `${text}. Marks ${cells.map(named).join("; ")}.`);
  for (const event of ["pointerenter", "focus", "click"]) {
    button.addEventListener(event, () => mark(cells));
  }
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => mark([]));
  item.append(button);
  return item;
}

// Nothing for players without a path.
export function pathOf(record, mark) {
  if (!record.before_path) return [];
  const details = element("details", "", { className: "path" });
  const conditions = element("ul", "");
  conditions.append(
    ...record.path.map((text, number) => condition(text, record.path_cells[number], mark)),
  );
  const after = record.after_path.map((text) => element("p", text));
  details.append(element("summary", "The path through the tree"));
  details.append(element("p", record.before_path), conditions, ...after);
  return [details];
}
