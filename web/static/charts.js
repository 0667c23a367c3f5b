// Bars as SVG, with the same numbers as a table.

import { element, svg } from "./dom.js";

const [WIDTH, HEIGHT, FOOT, HEAD, MOST_LABELS] = [320, 100, 14, 12, 14];

export const number = (value) => value.toLocaleString("en");
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;

export function table(header, rows, title = "") {
  const row = (tag, contents) => {
    const made = element("tr", "");
    for (const content of contents) {
      const cell = element(tag, "");
      cell.append(content);
      made.append(cell);
    }
    return made;
  };
  const [head, body] = [element("thead", ""), element("tbody", "")];
  head.append(row("th", header));
  body.append(...rows.map((texts) => row("td", texts)));
  const made = element("table", "");
  if (title) made.append(element("caption", title));
  made.append(head, body);
  const scrolls = element("div", "", { className: "scrolls" });
  scrolls.append(made);
  return scrolls;
}

// A figure of stacked bars: `rows` are [label, numbers], as many numbers as `names`.
export function bars(title, unit, names, rows) {
  const figure = element("figure", "", { className: "chart" });
  const sums = rows.map(([, values]) => values.reduce((one, other) => one + other, 0));
  const most = Math.max(1, ...sums);
  const [wide, every] = [WIDTH / Math.max(1, rows.length), Math.ceil(rows.length / MOST_LABELS)];
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEAD + HEIGHT + FOOT}`, role: "img", "aria-label": title,
  });
  const text = (content, x, y, anchor) => {
    const made = svg("text", { x, y, "text-anchor": anchor });
    made.textContent = content;
    drawing.append(made);
  };
  text(number(most), 0, HEAD - 3, "start");
  drawing.append(svg("path", { class: "grid", d: `M0 ${HEAD}H${WIDTH}M0 ${HEAD + HEIGHT}H${WIDTH}` }));
  rows.forEach(([label, values], place) => {
    let top = HEAD + HEIGHT;
    const facts = values.map((value, part) => `${number(value)} ${names[part]}`).join(", ");
    const hint = svg("title", {});
    hint.textContent = `${unit} ${label}: ${facts}`;
    const bar = svg("g", {}, hint);
    values.forEach((value, part) => {
      const height = (HEIGHT * value) / most;
      top -= height;
      const box = { x: place * wide + wide * 0.1, y: top, width: wide * 0.8, height };
      bar.append(svg("rect", { class: `part${part}`, ...box }));
    });
    drawing.append(bar);
    if (place % every === 0) text(label, (place + 0.5) * wide, HEAD + HEIGHT + 11, "middle");
  });
  const caption = element("figcaption", title);
  if (names.length > 1) {
    const legend = element("span", " from below: ", { className: "legend" });
    names.forEach((name, part) => {
      const both = element("span", "", { className: "named" });
      both.append(element("span", "", { className: `key part${part}` }), name);
      legend.append(both, " ");
    });
    caption.append(legend);
  }
  const twin = element("details", "");
  const numbers = rows.map(([label, values]) => [label, ...values.map(number)]);
  twin.append(element("summary", "as a table"), table([unit, ...names], numbers));
  figure.append(caption, drawing, twin);
  return figure;
}
