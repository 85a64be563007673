// Files of a run to take away, and settings to open again.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";

const FILES = /** @type {const} */ ([
  ["history.csv", "History", "CSV: a row a rule, seed and step"],
  ["settings.json", "Settings", "JSON: opens here and in Python"],
  ["weights.safetensors", "Weights", "safetensors, as nn.Linear has them"],
  ["run.py", "PyTorch script", "the same losses, with torch alone"],
]);

/**
 * ``onTake`` and ``onOpen`` give a sentence where something went wrong.
 * @param {{onTake: (file: string) => Promise<string>, onOpen: (text: string) => Promise<string>}} on
 */
export function createTaking({ onTake, onOpen }) {
  const said = element("p", { class: "next", role: "status" });
  const buttons = FILES.map(([file, name, hint]) =>
    element("button", { onclick: () => act(() => onTake(file)) }, element("b", {}, name), ` ${hint}`),
  );
  const field = element("input", { type: "file", accept: ".json,application/json", onchange: open });
  const label = element("label", { class: "own-file" }, element("b", {}, "Open settings"), field);
  const menu = createMenu("Take away", element("div", { class: "taking" }, ...buttons, label, said));

  /** @param {() => Promise<string>} work */
  async function act(work) {
    setText(said, "One moment …");
    setText(said, await work());
  }

  async function open() {
    const [file] = field.files;
    if (file) await act(async () => onOpen(await file.text()));
    field.value = "";
  }

  return {
    element: menu,
    /** @param {{hasRun: boolean}} time */
    show({ hasRun }) {
      buttons.forEach((button) => setAttribute(button, "disabled", !hasRun));
    },
  };
}
