// The page: a game on the board, its players, why they move, and what the moves are worth.

import { formatAddress, parseAddress } from "./address.js";
import { BoardView, lineOf } from "./board.js";
import { chosenBoard, seated, showBoard } from "./boards.js";
import { element, link } from "./dom.js";
import { Game } from "./game.js";
import { askOpinion, showOpinion, whose } from "./opinion.js";
import { pathOf } from "./path.js";
import { Position } from "./rules.js";
import { atLevel, called, fillSeat, parted } from "./seats.js";
import { ask, askPlayers, attempt } from "./server.js";
import { Study } from "./study.js";
import { isOn, remember } from "./switches.js";
import { givenAway, Warning } from "./warning.js";
import { askValues, canSolve, valuesKnown } from "./values.js";
import { paragraphs, sentencesOf, sentencesOfSearch, statusOf, tableOf } from "./words.js";

const PAUSE_BETWEEN_PLAYERS = 600;
const PATIENCE = 4000;
const SEEDS = 1e6;
const part = (id) => document.getElementById(id);

let game;
let offered = { trees: [], players: [] };
let offering = Promise.resolve();
let asking = new AbortController();
let isPaused = false;
let reasons = null;
let showsLine = false;
let said = [];
const known = askPlayers();
const board = new BoardView(part("board"), choose);
const study = new Study({ game: () => game, draw, ask, goOn, goTo });
const warning = new Warning(part("warning"), { takeBack, playAnyway: goOn });

// The server answers one question at a time: drop those asked before.
function askAnew() {
  asking.abort();
  asking = new AbortController();
  return asking.signal;
}

function changed(isHeld = false) {
  const signal = askAnew();
  reasons = null;
  showsLine = false;
  if (!isHeld) {
    study.changed(game);
    history.replaceState(null, "", formatAddress(game));
  }
  warning.close();
  board.mark([]);
  alertWith("");
  draw();
  return signal;
}

function draw() {
  const { position } = game;
  const view = shownPosition();
  const last = view.moves.at(-1);
  const found = isOn("values") && view === position ? valuesKnown(position) : [];
  const thinks = !study.open && wantsOpinion() && view === position && whose(game.players, offered);
  const opinions = showOpinion(part("legend"), view, thinks, found);
  board.draw(study.open?.scene ?? {
    position: view,
    isTurn: game.isTurn && view === position && !warning.isOpen,
    last: last === undefined ? null : [last, view.landing(last) - 1],
    marked: reasons?.cells,
    ghosts: showsLine ? lineOf(view, reasons.line) : [],
    results: found,
    opinions,
  });
  part("status").textContent =
    study.open?.status ?? (warning.isOpen ? "Are you sure?" : statusOf(game, isPaused));
  study.draw();
  const isSure = !warning.isOpen; // a held move is not part of the game yet
  setEnabled("review", isSure && study.canReview);
  setEnabled("practise", isSure);
  setEnabled("undo", isSure && game.back > 0);
  setEnabled("redo", isSure && game.undone.length > 0);
  setEnabled("why", game.lastByPlayer !== null);
  part("why").setAttribute("aria-expanded", String(reasons !== null));
  part("pause").hidden = game.hasPerson && !isPaused;
  part("pause").textContent = isPaused ? "Continue" : "Pause";
  part("reasons").hidden = reasons === null || study.open !== null;
  part("line").hidden = !reasons?.line;
  part("line").setAttribute("aria-pressed", String(showsLine));
  for (const [index, id] of ["x", "o"].entries()) {
    fillSeat(part(id), part(`${id}-level`), game.players[index], offered);
  }
  drawLog();
}

// Reasons are about the board before or after a move, not always the one of now.
function shownPosition() {
  if (!reasons) return game.position;
  if (showsLine) return reasons.before;
  const after = reasons.before.play(reasons.column);
  return after.notation === game.position.notation ? game.position : after;
}

const wantsOpinion = () =>
  isOn(game.undone.length || game.position.isOver ? "opinion-back" : "opinion-playing");

function drawLog() {
  const sentences = sentencesOf(game);
  let same = 0;
  while (same < said.length && said[same] === sentences[same]) same++;
  const [log, moves] = [part("log"), part("moves")];
  while (moves.children.length > same) moves.lastChild.remove();
  moves.append(...sentences.slice(same).map((text) => element("li", text)));
  if (sentences.length > said.length) log.scrollTop = log.scrollHeight;
  said = sentences;
}

function setEnabled(id, isEnabled) {
  part(id).setAttribute("aria-disabled", String(!isEnabled)); // `disabled` would lose the focus
}

const isEnabled = (id) => part(id).getAttribute("aria-disabled") !== "true" && !part(id).hidden;

function alertWith(text) {
  part("alert").textContent = text;
}

function choose(column) {
  if (study.open) return study.open.choose(column);
  if (reasons && shownPosition() !== game.position) return closeReasons();
  if (warning.isOpen) {
    warning.focus();
    return alertWith("Take your move back, or play it anyway.");
  }
  if (game.position.isOver) return alertWith("The game is over.");
  if (!game.isTurn) return alertWith(`It is not your turn: ${statusOf(game, isPaused)}.`);
  if (!game.position.legal.includes(column)) return alertWith(`Column ${column + 1} is full.`);
  const warns = isOn("warn") && givenAway(valuesKnown(game.position), column);
  if (warns) hold(column, warns);
  else move(column);
}

// Show a move without going on, and ask whether it is meant.
function hold(column, text) {
  game.play(column);
  changed(true);
  warning.open(text);
  draw();
}

function takeBack() {
  const column = game.position.moves.at(-1);
  game.undo();
  game.undone = []; // it was never played
  goOn();
  board.focus(column);
}

function move(column) {
  game.play(column);
  goOn();
}

// Have the player whose turn it is move, and then the moves of the position valued.
function goOn() {
  return unlessDropped(changed(), proceed);
}

// Go to another place of this game, with the moves that were played on from there.
function goTo(moves, undone) {
  game.position = new Position(game.position.board, moves);
  game.undone = [...undone].reverse();
  isPaused = !game.hasPerson;
  goOn();
}

async function proceed(signal) {
  if (warning.isOpen) return;
  if (!game.isTurn && !game.position.isOver && !isPaused) await letPlayerMove(signal);
  else await showValues(signal);
}

const unlessDropped = (signal, act) => attempt(signal, () => act(signal), alertWith);

async function letPlayerMove(signal) {
  const { position, mover: player, seed } = game;
  const since = performance.now();
  const late = setTimeout(() => {
    part("status").textContent += "; the first move on a board may have to compile";
  }, PATIENCE);
  try {
    const decision = await ask("analyse", { position, player, seed }, signal);
    if (!game.hasPerson) await pause(PAUSE_BETWEEN_PLAYERS - (performance.now() - since), signal);
    if (!signal.aborted) move(decision.move);
  } catch (error) {
    isPaused ||= !signal.aborted; // the person may continue
    draw();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, milliseconds));
    signal.addEventListener("abort", resolve);
  });
}

// At first a win, a draw or a loss, then what a player thinks, then in how many moves.
async function showValues(signal) {
  const { position, players, seed } = game;
  const learn = async (what) => canSolve(position) && askValues(what, position, signal);
  const learns = [
    [isOn("values") || isOn("warn"), () => learn("values")],
    [wantsOpinion(), async () => {
      await offering;
      await askOpinion(position, whose(players, offered), seed, signal);
    }],
    [isOn("values"), () => learn("solve")],
  ];
  if (position.isOver) return;
  for (const [isWanted, act] of learns) {
    if (isWanted) await act();
    if (signal.aborted) return;
    draw();
  }
}

async function explain(signal) {
  const { before, column, player } = game.lastByPlayer;
  const { trees } = await known;
  const isTree = trees.includes(parted(player).name);
  const question = { position: before, player, seed: game.seed };
  const record = await ask(isTree ? "explain" : "analyse", question, signal);
  if (signal.aborted) return;
  const isOther = record.move !== column;
  reasons = { before, column, cells: isOther ? [] : record.cells, line: record.line };
  const stone = before.moves.length + 1;
  part("reasons-title").textContent = `${called(player)}, stone ${stone}: column ${column + 1}`;
  const sentences = isTree ? record.sentences : sentencesOfSearch(record);
  const other = `It did not choose this: here it plays column ${record.move + 1}.`;
  if (isOther) sentences.unshift(other);
  const path = isOther ? [] : pathOf(record, (cells) => board.mark(cells));
  const where = new URLSearchParams({ name: parted(player).name });
  const to = `model?${where}#${new URLSearchParams({ moves: before.notation })}`;
  const way = isTree ? [link("Its way through the tree", to)] : [];
  const text = [...paragraphs(sentences), ...tableOf(record), ...path, ...way];
  part("reasons-text").replaceChildren(...text);
  draw();
  await proceed(signal);
}

function closeReasons() {
  board.mark([]);
  reasons = null;
  showsLine = false;
  draw();
}

async function startOn(chosen, signal) {
  const { trees, players } = await known;
  const position = new Position(chosen);
  offered = await ask("offered", { position }, signal);
  const seats = seated(game.players, offered, [...trees, ...players]);
  game = new Game({ position, players: seats, seed: Math.floor(Math.random() * SEEDS) });
  isPaused = false;
  part("choice").open = false;
  showBoard(part("choice"), chosen);
  await goOn();
}

// Who can play on the board.
async function offer() {
  const position = new Position(game.position.board);
  const here = await ask("offered", { position });
  const { size, connect } = game.position.board;
  if (here.board !== size || here.connect !== connect) return;
  offered = here;
  draw();
}

const actions = {
  new: () => {
    const seed = Math.floor(Math.random() * SEEDS);
    game = new Game({ ...game, position: new Position(game.position.board), seed });
    isPaused = false;
    goOn();
  },
  undo: () => {
    isPaused = !game.hasPerson;
    game.undo();
    goOn();
  },
  redo: () => {
    game.redo();
    isPaused = !game.hasPerson;
    goOn();
  },
  pause: () => {
    isPaused = !isPaused;
    goOn();
  },
  start: () => {
    const chosen = chosenBoard(part("choice"), alertWith);
    if (chosen) unlessDropped(askAnew(), (signal) => startOn(chosen, signal));
  },
  why: () => (reasons ? closeReasons() : unlessDropped(askAnew(), explain)),
  review: () => unlessDropped(askAnew(), (signal) => study.openReview(signal)),
  practise: () => {
    askAnew();
    study.openPractice();
  },
  line: () => {
    showsLine = !showsLine;
    draw();
  },
};

for (const [id, act] of Object.entries(actions)) {
  part(id).addEventListener("click", () => isEnabled(id) && act());
}
for (const [index, id] of ["x", "o"].entries()) {
  part(id).addEventListener("change", () => {
    game.players[index] = part(id).value;
    isPaused = false;
    goOn();
  });
  part(`${id}-level`).addEventListener("change", () => {
    game.players[index] = atLevel(game.players[index], part(`${id}-level`), offered);
    goOn();
  });
}
for (const id of ["values", "warn", "opinion-playing", "opinion-back"]) {
  remember(id, id === "values", () => {
    draw();
    unlessDropped(askAnew(), proceed);
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select")) return;
  if (study.open?.key(event.key)) return event.preventDefault();
  const columns = board.buttons.length;
  const at = board.buttons.indexOf(document.activeElement);
  const keys = { u: "undo", r: "redo", w: "why", n: "new", p: "pause", v: "review", x: "practise" };
  if (/^[1-9]$/.test(event.key) && Number(event.key) <= columns) {
    board.focus(Number(event.key) - 1);
    choose(Number(event.key) - 1);
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const step = event.key === "ArrowRight" ? 1 : -1;
    board.focus(at < 0 ? Math.floor(columns / 2) : at + step);
  } else if (event.key === "Escape" && warning.isOpen) {
    takeBack();
  } else if (event.key === "Escape" && reasons) {
    closeReasons();
  } else if (keys[event.key] && !study.open) {
    part(keys[event.key]).click();
  } else {
    return;
  }
  event.preventDefault();
});

function open() {
  let problem = "";
  try {
    game = new Game(parseAddress(location.hash));
  } catch (error) {
    problem = `The address is no game: ${error.message}.`;
    game = new Game(parseAddress(""));
  }
  isPaused = false;
  showBoard(part("choice"), { ...game.position.board });
  offering = unlessDropped(new AbortController().signal, offer);
  goOn();
  if (problem) alertWith(problem);
}

window.addEventListener("hashchange", open);
open();
