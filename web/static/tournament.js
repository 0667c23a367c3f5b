// The page of a tournament: ratings, scores of every pair, and their games as links to the board.

import { element, link, scrolling, svg, table } from "./dom.js";
import { askOpened, attempt, post, Refusal } from "./server.js";
import { boardAddress, counted, percent, rangeOf } from "./words.js";

const part = (id) => document.getElementById(id);
const say = (text) => { part("alert").textContent = text; };
const elo = (points) => (points < 0 ? "−" : "+") + counted(Math.abs(Math.round(points)));
const addressOf = (words) => `#${new URLSearchParams(words)}`;
const OUTCOMES = ["wins", "draws", "losses"];

let name;
let asking = new AbortController();

// A rating as a bar from 0, the mean of all players, with its interval and the line of reference.
function ratingBar({ elo: points, interval }, reference, [low, high]) {
  const at = (value) => 100 * (value - low) / (high - low);
  const line = (kind, from, to, top) => {
    const ends = { x1: at(from), x2: at(to), y1: top, y2: 10 - top };
    return svg("line", { class: kind, ...ends });
  };
  const [from, to] = [0, points].sort((a, b) => a - b);
  const shown = [svg("rect", { x: at(from), y: 2, width: at(to) - at(from), height: 6 }), line("", 0, 0, 0)];
  if (interval) shown.push(line("interval", ...interval, 5));
  if (reference) shown.push(line("reference", reference.elo, reference.elo, 0));
  const box = { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", { class: "rating", ...box }, ...shown);
}

function showRatings({ players, first_player_advantage: advantage, draw_rate_of_equals: draws }, perfect) {
  const reference = players.find(({ player }) => perfect.includes(player));
  const ends = players.flatMap((one) => [0, one.elo, ...(one.interval ?? [])]);
  const span = [Math.min(...ends) - 1, Math.max(...ends) + 1];
  const bars = element("div", "", { className: "ratings" });
  const rows = players.map((one) => {
    bars.append(element("span", one.player), ratingBar(one, reference, span), element("span", elo(one.elo)));
    const results = OUTCOMES.map((what) => counted(one.as_first[what] + one.as_second[what]));
    const forfeits = one.forfeits.reduce((sum, { games }) => sum + games, 0);
    const time = one.ms_per_move === null ? "" : one.ms_per_move.toFixed(3);
    return [one.player, elo(one.elo), rangeOf(one.interval, elo), ...results, counted(forfeits), time];
  });
  const head = ["player", "Elo", "95 % confidence", "won", "drawn", "lost", "forfeited", "ms per move"];
  const first = advantage.interval === null
    ? "Confidence intervals of Elo are unknown: they need more openings that lead to different games."
    : `Moving first is worth ${elo(advantage.elo)} Elo (${rangeOf(advantage.interval, elo)}); `
      + `equal players draw ${percent(draws, 1)} of their games.`;
  const notes = [reference && `The dashed line is perfect play, by ${reference.player}.`, first];
  const texts = notes.filter(Boolean).map((text) => element("p", text));
  part("ratings").replaceChildren(bars, ...texts, scrolling(table("Ratings as a table", head, rows)));
}

function showScores({ players, pairs }) {
  const names = players.map(({ player }) => player);
  const cells = names.map(() => names.map(() => "–"));
  for (const { a, b, a_score: score, interval: [low, high] } of pairs) {
    const [i, j] = [names.indexOf(a), names.indexOf(b)];
    cells[i][j] = scoreCell(a, b, score, [low, high]);
    cells[j][i] = scoreCell(b, a, 1 - score, [1 - high, 1 - low]);
  }
  const rows = names.map((player, number) => [`${number + 1} ${player}`, ...cells[number]]);
  const head = ["score of", ...names.map((_, number) => `over ${number + 1}`)];
  part("scores").replaceChildren(scrolling(table("Scores of all pairs", head, rows)));
}

function scoreCell(a, b, score, interval) {
  const ends = interval.map((end) => (100 * end).toFixed(0)).join("–");
  const cell = link("", addressOf({ a, b }), { className: "score" });
  cell.ariaLabel = `${a} over ${b}: ${percent(score, 1)}, ${ends} %; games`;
  cell.append(element("b", percent(score, 1)), element("small", ends));
  return cell;
}

async function showGames(signal) {
  const given = new URLSearchParams(location.hash.slice(1));
  const [a, b, start] = [given.get("a"), given.get("b"), Number(given.get("start") ?? 0)];
  if (a === null || b === null || !part("scores").hasChildNodes()) return;
  if (!Number.isSafeInteger(start)) throw new Refusal("start is a number");
  const found = await post("games", { name, a, b, start }, signal);
  const rows = found.games.map((game, number) => {
    const result = game.winner === null ? "drawn" : `${game.winner} won`;
    const way = link(`${game.stones} stones`, boardAddress(game.moves, found));
    const reason = game.forfeit === null ? "" : `, forfeit: ${game.forfeit}`;
    return [counted(start + number + 1), way, game.first, result + reason];
  });
  part("games-title").textContent = `${a} and ${b}: ${counted(found.total)} games`;
  part("list").replaceChildren(scrolling(table("Games", ["game", "board", "first", "result"], rows)));
  const turn = (id, to, isThere) => {
    part(id).hidden = !isThere;
    part(id).onclick = () => { location.hash = addressOf({ a, b, start: to }); };
  };
  turn("before", Math.max(0, start - found.page), start > 0);
  turn("after", start + rows.length, start + rows.length < found.total);
}

async function go() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  say("");
  await opening;
  await attempt(signal, () => showGames(signal), say);
}

part("name").addEventListener("change", () => { location.search = new URLSearchParams({ name: part("name").value }); });
window.addEventListener("hashchange", go);

const opening = attempt(new AbortController().signal, async () => {
  const { tournaments } = await askOpened();
  name = new URLSearchParams(location.search).get("name") ?? tournaments[0] ?? "";
  part("name").replaceChildren(...tournaments.map((one) => new Option(one, one)));
  part("name").value = name;
  const { standings, opening, reference, players_total: all } = await post("tournament", { name });
  document.title = `selfplay: ${name}`;
  part("title").textContent = name;
  const { games, board, connect, seed, players, repeatable } = standings;
  const facts = [`${counted(games)} games on ${board}, ${connect} in a row`, `openings ${opening}`, `seed ${seed}`];
  if (!repeatable) facts.push("not reproducible: there is a time limit");
  if (players.length < all) facts.push(`the best ${players.length} of ${counted(all)} players`);
  part("facts").textContent = facts.join("; ");
  showRatings(standings, reference);
  showScores(standings);
}, say);
go();
