// Questions to the server.

export class Refusal extends Error {}

async function read(answering) {
  let answer, content;
  try {
    answer = await answering;
    content = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("the server does not answer: is `selfplay web` still running?");
  }
  if (!answer.ok) throw new Refusal(content.error);
  return content;
}

export const askPlayers = () => read(fetch("api/players"));

export const post = (what, question, signal) => read(fetch(`api/${what}`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(question),
  signal,
}));

export function ask(what, { position, player = "tree", seed = 0, ...others }, signal) {
  const { board: { size: board, connect }, notation: moves } = position;
  return post(what, { moves, board, connect, player, seed, ...others }, signal);
}

// A refusal as a sentence, which may end with a question already.
export const sentenceOf = ({ message }) => (/[.?!]$/.test(message) ? message : `${message}.`);

// Do what asks the server; a refusal is said, and what was dropped is forgotten.
export async function attempt(signal, act, say) {
  try {
    await act();
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Refusal)) throw error;
    say(sentenceOf(error));
  }
}

export const askOpened = () => read(fetch("api/opened"));

export const askRun = (what, question, signal) => post(`run/${what}`, question, signal);
