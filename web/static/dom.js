// Making elements.

const SVG = "http://www.w3.org/2000/svg";

export const element = (name, textContent, others = {}) =>
  Object.assign(document.createElement(name), { textContent, ...others });

export function svg(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
