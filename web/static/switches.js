// Switches that are remembered, each by its own name.

import { recall, store } from "./storage.js";

const part = (id) => document.getElementById(id);

export const isOn = (id) => part(id).checked;

// `act` is called after a change.
export function remember(id, isOnAtFirst, act) {
  part(id).checked = (recall(id) ?? (isOnAtFirst ? "on" : "off")) === "on";
  part(id).addEventListener("change", () => {
    store(id, isOn(id) ? "on" : "off");
    act();
  });
}
