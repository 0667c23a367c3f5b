// Switches that are remembered, each by its own name.

const part = (id) => document.getElementById(id);

export const isOn = (id) => part(id).checked;

// `act` is called after a change.
export function remember(id, isOnAtFirst, act) {
  part(id).checked = (localStorage.getItem(id) ?? (isOnAtFirst ? "on" : "off")) === "on";
  part(id).addEventListener("change", () => {
    localStorage.setItem(id, isOn(id) ? "on" : "off");
    act();
  });
}
