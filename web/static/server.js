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

export function ask(what, { position, player = "tree", seed = 0, ...others }, signal) {
  const { board, notation } = position;
  return read(fetch(`api/${what}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      moves: notation,
      board: board.size,
      connect: board.connect,
      player,
      seed,
      ...others,
    }),
    signal,
  }));
}
