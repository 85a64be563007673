// The menu that exports files of a training run.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";

const FILES = /** @type {const} */ ([
  ["history.csv", "History", "CSV: a row a rule, seed and step"],
  ["settings.json", "Settings", "JSON: opens below Settings and in Python"],
  ["weights.safetensors", "Weights", "safetensors, as nn.Linear has them"],
  ["run.py", "PyTorch script", "the same losses, without this package"],
]);

/**
 * Create the menu that exports files of a training run.
 * @param {{onTake: (file: string) => Promise<string>}} on ``onTake`` resolves to a message for the user, "" on success
 */
export function createExportMenu({ onTake }) {
  const status = element("p", { class: "next text-small", role: "status" });
  const buttons = FILES.map(([file, name, hint]) =>
    element("button", { onclick: () => take(file) }, element("b", {}, name), ` ${hint}`),
  );
  const menu = createMenu("Take away", element("div", { class: "taking" }, ...buttons, status));

  /** @param {string} file */
  async function take(file) {
    setText(status, "One moment …");
    setText(status, await onTake(file));
  }

  return {
    element: menu,
    /** @param {{hasRun: boolean}} time */
    show({ hasRun }) {
      buttons.forEach((button) => setAttribute(button, "disabled", !hasRun));
    },
  };
}
