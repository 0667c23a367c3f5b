// Who plays a side: a person, a player, or a tree at a level. `tree:level=3` is the tree `tree` at level 3; without, it is the strongest.

export const HUMAN = "human";
const SIGN = ":level=";

export function parted(player) {
  const [name, level] = player.split(SIGN);
  return { name, level: level === undefined ? null : Number(level) };
}

// "tree, level 3", where a sentence names it.
export const called = (player) => player.replace(SIGN, ", level ");

// The selects of a player and of its level, for the players that are offered.
export function fillSeat(select, levels, player, offered) {
  const all = [HUMAN, ...offered.trees, ...offered.players];
  const { name } = parted(player);
  const names = all.includes(name) ? all : [...all, name];
  if ([...select.options].map((option) => option.value).join() !== names.join()) {
    const shown = (one) => (one === HUMAN ? "a person" : one);
    select.replaceChildren(...names.map((one) => new Option(shown(one), one)));
  }
  select.value = name;
  fillLevels(levels, player, offered);
}

// Hidden unless the player is a tree.
function fillLevels(select, player, { trees, levels }) {
  const { name, level } = parted(player);
  select.hidden = !trees.includes(name) || !levels;
  if (select.hidden) return;
  if (select.options.length !== levels) {
    const words = { 1: ", easy", [levels]: ", best" };
    const texts = Array.from({ length: levels }, (_, below) => below + 1);
    select.replaceChildren(...texts.map((at) => new Option(`Level ${at}${words[at] ?? ""}`, at)));
  }
  select.value = level ?? levels;
}

// The player at the level that is selected.
export function atLevel(player, select, { levels }) {
  const level = Number(select.value);
  return level === levels ? parted(player).name : parted(player).name + SIGN + level;
}
