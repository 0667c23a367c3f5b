// The way to the other pages, as far as there is something to see on them.

import { element } from "./dom.js";
import { askOpened } from "./server.js";

const PAGES = [
  ["Board", "./", () => true],
  ["Runs", "run", ({ runs }) => runs.length],
  ["Models", "model", () => true],
  ["Tournaments", "tournament", ({ tournaments }) => tournaments.length],
];

const pages = document.getElementById("pages");
// Without an answer the page itself says so.
const opened = await askOpened().catch(() => ({ runs: [], tournaments: [] }));
const links = PAGES.filter(([, , isThere]) => isThere(opened)).map(([title, href]) => {
  const link = element("a", title, { href });
  if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
  return link;
});
pages.replaceChildren(...links);
pages.hidden = links.length < 2;
