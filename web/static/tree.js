// A tree whose branches are loaded as they are opened: lists in lists, with a button for each node.

import { element } from "./dom.js";

export class TreeView {
  // `describe` makes the content of a line; `select` loads a node and calls `show`.
  constructor(root, { describe, select }) {
    Object.assign(this, { root, describe, select, children: new Map(), open: new Set() });
    root.addEventListener("keydown", (event) => this.#press(event));
  }

  // Draw the children of every node on a path; the last node is selected and opened.
  show(top, { path, levels }) {
    path.forEach((node, depth) => this.children.set(node, levels[depth]));
    for (const node of path) this.open.add(node);
    Object.assign(this, { top, selected: path.at(-1) });
    this.#draw(this.root.contains(document.activeElement));
    this.#line(this.selected).scrollIntoView({ block: "nearest" });
  }

  #draw(hasFocus) {
    this.root.replaceChildren(this.#item(this.top, 0));
    if (hasFocus) this.#line(this.selected).focus();
  }

  #line(node) {
    return this.root.querySelector(`[data-node="${node}"]`);
  }

  #item(record, depth) {
    const { node } = record;
    const [isLeaf, isOpen] = [record.splits_by === null, this.open.has(node)];
    const line = element("button", "", { type: "button", className: "node" });
    line.dataset.node = node;
    line.style.setProperty("--depth", depth);
    if (node === this.selected) line.ariaCurrent = "true";
    if (!isLeaf) line.ariaExpanded = String(isOpen);
    const sign = element("span", isLeaf ? "•" : isOpen ? "▾" : "▸", { ariaHidden: "true" });
    line.append(sign, ...this.describe(record));
    line.addEventListener("click", () => this.#toggle(node));
    const item = element("li", "");
    item.append(line);
    if (isOpen && !isLeaf) {
      const below = element("ul", "");
      below.append(...this.children.get(node).map((child) => this.#item(child, depth + 1)));
      item.append(below);
    }
    return item;
  }

  #toggle(node) {
    if (node === this.selected && this.open.delete(node)) this.#draw(true);
    else this.select(node);
  }

  #press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const lines = [...this.root.querySelectorAll("button")];
    lines[lines.indexOf(document.activeElement) + step]?.focus();
    event.preventDefault();
  }
}
