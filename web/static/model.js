// The page of a model: its tree from the root, the way of a position through it, what matters to it.

import { bar, element, link, measure, scrolling, table } from "./dom.js";
import { attempt, askPlayers, post, Refusal } from "./server.js";
import { smallBoard } from "./small.js";
import { TreeView } from "./tree.js";
import { boardAddress, counted, paragraphs, percent, rangeOf } from "./words.js";

const part = (id) => document.getElementById(id);
const name = new URLSearchParams(location.search).get("name") ?? "tree";
const MOST_ROWS = 20;
const CONDITIONS = 6;

let model;
let columns;
let going = new AbortController();
const tree = new TreeView(part("tree"), { describe, select: (node) => goTo({ node }) });

const say = (text) => { part("alert").textContent = text; };
const askOf = (what, question, signal) => post(what, { name, ...question }, signal);
const addressOf = (place) => `#${new URLSearchParams(place)}`.replaceAll("%2C", ",");
const linkTo = (node) => link(`node ${counted(node)}`, addressOf({ node }));

function goTo(place) {
  history.pushState(null, "", addressOf(place));
  return go();
}

// What was asked of another place is dropped.
async function go() {
  going.abort();
  going = new AbortController();
  const { signal } = going;
  say("");
  await opening;
  if (model) await attempt(signal, () => show(signal), say);
}

async function show(signal) {
  const given = new URLSearchParams(location.hash.slice(1));
  const moves = given.get("moves");
  const isWalk = moves !== null;
  part("walked").hidden = true;
  const node = isWalk ? await walk(moves, given.get("column"), signal) : Number(given.get("node") ?? 0);
  if (!Number.isSafeInteger(node)) throw new Refusal("a node is a number");
  const found = await askOf("node", { node }, signal);
  tree.show(model.root, found);
  showNode(found);
  part("more").hidden = true;
  const none = element("p", "No evaluation set is bundled for this board.");
  part("examples").replaceChildren(...(model.evaluation_positions === null ? [none] : []));
  if (model.evaluation_positions !== null) await showExamples(node, 0, signal);
}

function describe({ if: condition, rows, shares, leaves }) {
  const best = shares.indexOf(Math.max(...shares));
  const size = `${counted(rows)} rows${leaves > 1 ? `, ${counted(leaves)} leaves` : ""}`;
  const text = `${model.classes[best]} ${percent(shares[best])}, ${size}`;
  return [element("span", condition || "all rows"), bar(shares), element("span", text, { className: "faint" })];
}

function showNode({ node, conditions, classes, conclusion }) {
  part("node-title").textContent = node ? `Node ${counted(node)}` : "The root";
  const held = element("ul", "");
  held.append(...conditions.map((text) => element("li", text)));
  const rows = classes.map((one) => [one.class, measure(one.share), counted(one.rows)]);
  const head = ["class", model.smoothing ? "share, smoothed" : "share", "rows"];
  const shown = scrolling(table("Classes", head, rows));
  part("node").replaceChildren(element("p", conclusion), ...(conditions.length ? [held] : []), shown);
}

// A position on a small board; its text leads down the tree, or to the board.
function example(found, isOfThisNode) {
  const { moves, column, result, lost, is_played: isPlayed } = found;
  const facts = [`column ${column + 1}: ${result}`, lost && "a mistake", isPlayed && "the tree's move"];
  const text = facts.filter(Boolean).join(", ");
  const way = isOfThisNode ? boardAddress(moves, model, name) : addressOf({ moves, column: column + 1 });
  const caption = element("figcaption", "");
  caption.append(moves === null ? text : link(text, way));
  const figure = element("figure", "");
  figure.append(smallBoard(found, columns), caption);
  return figure;
}

const galleryOf = (figures) => {
  const gallery = element("div", "", { className: "gallery" });
  gallery.append(...figures);
  return gallery;
};

async function showExamples(node, start, signal) {
  const found = await askOf("examples", { node, start }, signal);
  const share = found.moves ? `, ${percent(found.mistakes / found.moves, 1)}` : "";
  const text = `${counted(found.moves)} of the ${counted(found.of)} moves in the evaluation set; `
    + `${counted(found.mistakes)}${share}, are mistakes, played or not.`;
  if (!start) part("examples").replaceChildren(element("p", text), galleryOf([]));
  part("examples").lastChild.append(...found.examples.map((one) => example(one, true)));
  const next = start + found.examples.length;
  part("more").hidden = next >= found.moves;
  part("more").onclick = () => attempt(signal, () => showExamples(node, next, signal), say);
}

// Show why the tree moves as it does; the node that its move, or a chosen one, reaches.
async function walk(moves, chosen, signal) {
  part("position").value = moves;
  const found = await askOf("walk", { moves }, signal);
  const { explanation: { sentences, ratings, move }, nodes } = found;
  const column = chosen === null ? move : Number(chosen) - 1;
  if (!Number.isInteger(nodes[column])) throw new Refusal(`column ${chosen} is not open`);
  const rows = [...nodes.keys()].filter((k) => nodes[k] !== null).map((k) => {
    const way = link(`node ${counted(nodes[k])}`, addressOf({ moves, column: k + 1 }));
    if (k === column) way.ariaCurrent = "true";
    return [`${k + 1}`, percent(ratings[k]), way];
  });
  const onBoard = link("Play from here", boardAddress(moves, model, name));
  const text = element("div", "");
  text.append(...paragraphs(sentences), table("Columns", ["column", "rating", "reaches"], rows), onBoard);
  part("walked-title").textContent = `${moves || "Empty board"}: the tree plays column ${move + 1}`;
  part("walked-text").replaceChildren(smallBoard({ ...found, moves, column }, columns), text);
  part("walked").hidden = false;
  return nodes[column];
}

function showFacts() {
  const { features, board, connect, leaves, depth, rows, parameters } = model;
  part("facts").textContent = `${counted(leaves)} leaves, ${depth} levels; ${features} features; `
    + `${board}, ${connect} in a row`;
  const facts = {
    fingerprint: model.fingerprint,
    features: `${features}, ${model.feature_count} of them`,
    predicts: model.target === "move" ? "the move of a position" : "for each move whether it is right",
    splits: `${model.split}; ${counted(model.nodes)} nodes`,
    positions: rows === null ? null : counted(rows),
    "test accuracy": model.test_accuracy === null ? null : percent(model.test_accuracy, 1),
    smoothing: `${counted(model.smoothing)} rows`,
    ...parameters,
  };
  const list = element("dl", "");
  for (const [key, value] of Object.entries(facts)) {
    if (value !== null) list.append(element("dt", key.replaceAll("_", " ")), element("dd", value));
  }
  const runs = model.runs.map((run) => [run.run, counted(run.positions), run.fingerprint]);
  const head = ["trained on", "positions", "fingerprint"];
  part("about").replaceChildren(list, scrolling(table("Runs it was trained on", head, runs)));
}

const sections = {
  mistakes(found) {
    const rows = Object.entries({ all: found, ...found.by_phase }).map(([phase, one]) => {
      const rates = one.interval === null ? ["", ""] : [measure(one.mistake_rate), rangeOf(one.interval)];
      return [phase, counted(one.contested), counted(one.mistakes), ...rates];
    });
    const head = ["stones", "contested", "mistakes", "share", "95 % confidence"];
    return [scrolling(table("Mistakes in contested positions", head, rows)), ...found.leaves.flatMap((leaf) => {
      const title = element("h3", "");
      const moves = `${leaf.mistakes} mistakes in ${counted(leaf.played)} moves`;
      title.append(linkTo(leaf.node), `: ${leaf.lost} ${leaf.lost > 1 ? "steps" : "step"} given away, ${moves}`);
      const more = leaf.conditions.length > CONDITIONS ? "; …" : "";
      const held = element("p", leaf.conditions.slice(0, CONDITIONS).join("; ") + more);
      return [title, held, galleryOf(leaf.examples.map((one) => example(one, false)))];
    })];
  },
  importances({ positions, mistake_rate: rate, features }) {
    const points = (share) => (100 * share).toFixed(1);
    const rows = features.slice(0, MOST_ROWS).map((one) => [
      one.feature,
      measure(one.gain),
      positions === null ? "" : `${points(one.permutation)} ± ${points(one.permutation_std)}`,
    ]);
    const text = positions === null ? "Without an evaluation set there is no permutation importance."
      : `${counted(positions)} contested positions, ${percent(rate, 1)} mistakes. Permutation: `
        + "percentage points that shuffling the feature adds.";
    return [element("p", text), scrolling(table("Importance", ["feature", "gain", "permutation"], rows))];
  },
  weights({ phases_from: phases, features, patterns }) {
    const points = (number) => (number === null ? "" : number.toFixed(0));
    const rows = features.slice(0, MOST_ROWS).map((one) => [one.name, ...one.points.map(points)]);
    const most = patterns.slice(0, MOST_ROWS).map((one) => [one.name, points(one.points)]);
    const text = "How far the points of moves differ (standard deviation): those of features by "
      + "stones on the board, those of patterns after the move.";
    const head = ["feature", ...phases.map((from) => `${from} on`)];
    const shown = [table("Features", head, rows), table("Patterns", ["pattern", "points"], most)];
    return [element("p", text), ...shown.map(scrolling)];
  },
};

// What takes seconds is asked for when its section is opened, and dropped if it is closed.
for (const [what, shown] of Object.entries(sections)) {
  const section = part(what);
  const content = section.querySelector("div");
  let asking;
  section.addEventListener("toggle", () => {
    asking?.abort();
    if (!section.open || content.dataset.whole) return;
    asking = new AbortController();
    const { signal } = asking;
    content.replaceChildren(element("p", "Computing; this takes some seconds."));
    attempt(signal, async () => {
      content.replaceChildren(...shown(await askOf(what, {}, signal)));
      content.dataset.whole = "yes";
    }, (text) => content.replaceChildren(element("p", text, { className: "alert" })));
  });
}

part("walk").addEventListener("submit", (event) => {
  event.preventDefault();
  goTo({ moves: part("position").value.trim() });
});
part("name").addEventListener("change", () => { location.search = new URLSearchParams({ name: part("name").value }); });
window.addEventListener("popstate", go);

const opening = attempt(new AbortController().signal, async () => {
  const { trees } = await askPlayers();
  part("name").replaceChildren(...trees.map((one) => new Option(one, one)));
  part("name").value = name;
  model = await askOf("model", {});
  columns = Number(model.board.split("x")[0]);
  document.title = `selfplay: ${name}`;
  part("title").textContent = name === "tree" ? "The bundled tree" : name;
  showFacts();
}, say);
go();
