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

const post = (path, content, signal) => read(fetch(path, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(content),
  signal,
}));

export function ask(what, { position, player = "tree", seed = 0, ...others }, signal) {
  const { board, notation } = position;
  const { size, connect } = board;
  const question = { moves: notation, board: size, connect, player, seed, ...others };
  return post(`api/${what}`, question, signal);
}

export const askOpened = () => read(fetch("api/opened"));

export const askRun = (what, question, signal) => post(`api/run/${what}`, question, signal);
