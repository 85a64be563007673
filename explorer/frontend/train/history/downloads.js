// Files of a run to take away, and settings to open again.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createFileButton } from "../../elements/file-button.js";
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
  const file = createFileButton("Open settings", { accept: ".json,application/json", onFile: open });
  const menu = createMenu("Take away", element("div", { class: "taking" }, ...buttons, file, said));

  /** @param {() => Promise<string>} work */
  async function act(work) {
    setText(said, "One moment …");
    setText(said, await work());
  }

  /** @param {File} chosen */
  function open(chosen) {
    return act(async () => onOpen(await chosen.text()));
  }

  return {
    element: menu,
    /** @param {{hasRun: boolean}} time */
    show({ hasRun }) {
      buttons.forEach((button) => setAttribute(button, "disabled", !hasRun));
    },
  };
}
