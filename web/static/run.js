// The page of a run: its progress as it is made, its statistics, its games, its positions.

import { bars } from "./charts.js";
import { element, scrolling, table } from "./dom.js";
import { Games } from "./games.js";
import { Explorer } from "./explorer.js";
import { askOpened, askRun, Refusal, sentenceOf } from "./server.js";
import { counted, percent, rangeOf } from "./words.js";

const part = (id) => document.getElementById(id);
const run = new URLSearchParams(location.search).get("name");
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
let latest = null;
let isCounting = false;
let countedOf = "";

// Its two largest units, as the commands say it.
function duration(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  let rest = Math.round(seconds);
  const first = UNITS.findIndex(([, size]) => rest >= size);
  return UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return `${counted(count)} ${unit}`;
  }).join(" ");
}

function showFacts(list, facts) {
  list.replaceChildren(...facts.filter(([, text]) => text).map(([name, text]) => {
    const both = element("div", "", { className: text.length > 40 ? "long" : "" });
    both.append(element("dt", name), element("dd", text));
    return both;
  }));
}

function remaining({ status, resume }) {
  if (status.complete) return "nothing, the run is complete";
  if (status.seconds_left !== null) return duration(status.seconds_left);
  if (!status.is_idle) return "not known yet";
  return `unknown: nobody seems to work on it${resume ? `; resume with: ${resume}` : ""}`;
}

function showStatus(record) {
  latest = record;
  const { status } = record;
  const of = (some, all) => `${counted(some)} of ${counted(all)}`;
  const isRead = record.read === record.files;
  part("progress").max = status.positions_total ?? status.shards_expected;
  part("progress").value = status.positions_total ? status.positions : status.shards;
  part("alert").textContent = "";
  const lines = [...record.problems];
  if (record.more_problems) lines.push(`and ${counted(record.more_problems)} more: selfplay dataset verify`);
  part("problems").replaceChildren(...lines.map((text) => element("li", text)));
  part("problems").hidden = !lines.length;
  showFacts(part("facts"), [
    ["shards", of(status.shards, status.shards_expected)],
    ["games", of(status.games, status.games_expected)],
    ["positions", counted(status.positions)
      + (status.positions_total ? ` of ${counted(status.positions_total)}` : "")],
    ["speed", status.complete || !status.positions_per_second ? ""
      : `${counted(Math.round(status.positions_per_second))} positions/s`],
    ["last shard", status.seconds_since_last === null ? ""
      : `${duration(status.seconds_since_last)} ago`],
    ["remaining", isRead ? remaining(record) : `reading: ${of(record.read, record.files)} shards`],
    ["size", `${counted(Math.round(status.bytes / 1000))} kB`],
    ["board", `${record.board}, connect ${record.connect}`],
    ["teacher", record.teachers.join(" and ")],
    ["openings", record.opening],
    ["seed", record.seed === null ? "" : `${record.seed}`],
  ]);
  part("count").hidden = record.is_small;
  if (isRead && record.is_small) countThem();
}

// Have the shards counted that are there by now, and show the numbers when all are.
async function count() {
  const key = `${latest.status.shards} ${latest.status.positions} ${latest.problems}`;
  if (isCounting || key === countedOf) return;
  isCounting = true;
  try {
    for (let info = null; info === null;) {
      const found = await askRun("statistics", { run });
      info = found.info;
      part("counted").textContent = `${counted(found.read)} of ${counted(found.shards)} shards are counted`;
      if (info) showStatistics(info, found.quality);
    }
    countedOf = key;
  } finally {
    isCounting = false;
  }
}

// All numbers from the first to the last key.
function series(counts) {
  const keys = Object.keys(counts).map(Number);
  return keys.length ? Array.from({ length: keys.at(-1) - keys[0] + 1 }, (_, k) => keys[0] + k) : [];
}

function showStatistics(info, quality) {
  const games = info.results.wins + info.results.draws + info.results.losses;
  const share = (some) => percent(some / Math.max(1, games), 1);
  showFacts(part("totals"), [
    ["games", counted(info.games)],
    ["positions", counted(info.positions)],
    ["unique positions", counted(info.unique_positions)],
    ["unique openings", info.unique_openings === null ? "" : counted(info.unique_openings)],
    ["exact labels", counted(info.exact_labels)],
    ["first player", games ? `wins ${share(info.results.wins)}, draws ${share(info.results.draws)}, `
      + `loses ${share(info.results.losses)}` : ""],
    ["fingerprint", info.fingerprint],
  ]);
  const ends = ["wins", "draws", "losses"];
  const column = (key) => `${Number(key) + 1}`;
  const entries = Object.entries;
  const unique = (stones) => {
    const once = info.unique_by_ply[stones] ?? 0;
    return [once, (info.by_ply[stones] ?? 0) - once];
  };
  const figures = [
    bars("The teacher's moves", "column", ["positions"],
      info.moves.map((many, key) => [column(key), [many]])),
    bars("Lengths of games", "stones", ["games"],
      series(info.lengths).map((stones) => [stones, [info.lengths[stones] ?? 0]])),
    bars("First player, by the first move after the opening", "column", ends,
      entries(info.by_first_move).map(([key, result]) => [column(key), ends.map((end) => result[end])])),
    bars("Positions by stones", "stones", ["unique", "repeated"],
      series(info.by_ply).map((stones) => [stones, unique(stones)])),
  ];
  const isOpen = [...part("charts").querySelectorAll("details")].map((one) => one.open);
  part("charts").replaceChildren(...figures);
  part("charts").querySelectorAll("details").forEach((one, place) => { one.open = isOpen[place]; });
  const cells = ([phase, found]) => [phase, counted(found.positions), counted(found.contested),
    counted(found.mistakes), found.contested ? percent(found.mistake_rate, 1) : "",
    found.contested ? rangeOf(found.interval) : ""];
  if (quality === null) {
    const how = "Label quality is not measured: selfplay dataset quality measures it.";
    return part("quality").replaceChildren(element("p", how));
  }
  const title = `Label quality: the teacher against perfect play, ${counted(quality.sample)} positions`;
  const head = ["phase", "solved", "contested", "mistakes", "rate", "95 % confidence"];
  const rows = [["all", quality], ...entries(quality.by_phase)].map(cells);
  part("quality").replaceChildren(element("h3", title), scrolling(table(title, head, rows)));
}

// An action whose refusal is said at a place of the page.
const said = (place, action) => async (...given) => {
  try {
    await action(...given);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Refusal)) throw error;
    part(place).textContent = sentenceOf(error);
  }
};
const countThem = said("counted", count);

async function listRuns() {
  const { runs } = await askOpened();
  const link = (name) => element("a", name, { href: `run?name=${encodeURIComponent(name)}` });
  part("runs").append(...runs.map((name) => {
    const entry = element("li", "");
    entry.append(link(name));
    return entry;
  }));
  if (!runs.length) part("runs").append(element("li", "No run is open: selfplay web RUN opens one."));
  part("runs").hidden = false;
}

function follow() {
  part("title").textContent = `Run ${run}`;
  document.title = `selfplay: ${run}`;
  part("run").hidden = false;
  let explorer = null;
  const show = (record) => {
    if (explorer === null) {
      explorer = new Explorer(run, record, said);
      new Games(run, record, said, (game) => explorer.showGame(game)).find();
    }
    showStatus(record);
  };
  const events = new EventSource(`stream/run?run=${encodeURIComponent(run)}`);
  events.addEventListener("status", ({ data }) => show(JSON.parse(data)));
  events.addEventListener("problem", ({ data }) => {
    part("alert").textContent = `${JSON.parse(data).error}.`;
  });
  // A refused stream does not say why: an answer does.
  events.addEventListener("error", said("alert", async () => show(await askRun("status", { run }))));
  part("count").addEventListener("click", countThem);
}

if (run === null) said("title", listRuns)();
else follow();
