// Bars as SVG, with the same numbers as a table.

import { element, scrolling, svg, table } from "./dom.js";
import { counted } from "./words.js";

const [WIDTH, HEIGHT, FOOT, HEAD, MOST_LABELS] = [320, 100, 14, 12, 14];

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
  text(counted(most), 0, HEAD - 3, "start");
  drawing.append(svg("path", { class: "grid", d: `M0 ${HEAD}H${WIDTH}M0 ${HEAD + HEIGHT}H${WIDTH}` }));
  rows.forEach(([label, values], place) => {
    let top = HEAD + HEIGHT;
    const facts = values.map((value, part) => `${counted(value)} ${names[part]}`).join(", ");
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
    const legend = element("span", "; from below: ", { className: "legend" });
    names.forEach((name, part) => {
      const both = element("span", "", { className: "named" });
      both.append(element("span", "", { className: `key part${part}` }), name);
      legend.append(both, " ");
    });
    caption.append(legend);
  }
  const twin = element("details", "");
  const numbers = rows.map(([label, values]) => [label, ...values.map(counted)]);
  twin.append(element("summary", "as a table"), scrolling(table(title, [unit, ...names], numbers)));
  figure.append(caption, drawing, twin);
  return figure;
}
