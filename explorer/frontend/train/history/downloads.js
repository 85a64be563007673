// The menu that exports files of a training run and opens exported settings.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createFileButton } from "../../elements/file-button.js";
import { createMenu } from "../../elements/menu.js";

const FILES = /** @type {const} */ ([
  ["history.csv", "History", "CSV: a row a rule, seed and step"],
  ["settings.json", "Settings", "JSON: opens here and in Python"],
  ["weights.safetensors", "Weights", "safetensors, as nn.Linear has them"],
  ["run.py", "PyTorch script", "the same losses, without this package"],
]);

/**
 * Create the menu that exports files of a training run and opens exported settings.
 * @param {{onTake: (file: string) => Promise<string>, onOpen: (text: string) => Promise<string>}} on both functions
 *   resolve to a message for the user; ``onTake`` resolves to "" on success
 */
export function createExportMenu({ onTake, onOpen }) {
  const status = element("p", { class: "next text-small", role: "status" });
  const buttons = FILES.map(([file, name, hint]) =>
    element("button", { onclick: () => showResult(() => onTake(file)) }, element("b", {}, name), ` ${hint}`),
  );
  const file = createFileButton("Open settings", { accept: ".json,application/json", onFile: open });
  const menu = createMenu("Take away", element("div", { class: "taking" }, ...buttons, file, status));

  /** Run a task. Show its progress, then the message to which it resolves. @param {() => Promise<string>} work */
  async function showResult(work) {
    setText(status, "One moment …");
    setText(status, await work());
  }

  /** @param {File} chosen */
  function open(chosen) {
    return showResult(async () => onOpen(await chosen.text()));
  }

  return {
    element: menu,
    /** @param {{hasRun: boolean}} time */
    show({ hasRun }) {
      buttons.forEach((button) => setAttribute(button, "disabled", !hasRun));
    },
  };
}
