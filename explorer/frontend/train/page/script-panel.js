// The panel with the current settings as a plain PyTorch script.

import { copyText } from "../../elements/clipboard.js";
import { element, setAttribute, setText } from "../../elements/dom.js";

const REST_MS = 300; // pause after a change before another script is requested
const HINT = "A script that does not need this package: it computes the same losses.";

/**
 * Create the panel with the script.
 * @param {HTMLElement} host
 * @param {{scriptKey: () => string, onScript: () => Promise<{text?: string, message?: string}>}} on ``scriptKey``:
 *   returns a key that changes when the script does; ``onScript``: fetches it
 */
export function createScriptPanel(host, { scriptKey, onScript }) {
  const note = element("p", { role: "status" });
  const copy = element("button", { onclick: copyScript }, "Copy");
  const text = element("code", {});
  const block = element("pre", { tabindex: 0, role: "region", "aria-label": "PyTorch script" }, text);
  let requestedKey = "";
  let timer = 0;
  host.append(element("header", {}, note, copy), block);
  host.hidden = true;

  async function copyScript() {
    const isDone = await copyText(text.textContent);
    setText(note, isDone ? "Copied." : "The browser does not allow it: select the code and copy it.");
  }

  async function ask() {
    const key = requestedKey;
    const answer = await onScript();
    if (key !== requestedKey) return;
    setText(text, answer.text ?? "");
    setText(note, answer.message ?? HINT);
    setAttribute(copy, "hidden", !answer.text);
  }

  function follow() {
    const key = host.hidden ? requestedKey : scriptKey();
    if (key === requestedKey) return;
    const isFirst = requestedKey === "";
    requestedKey = key;
    clearTimeout(timer);
    timer = setTimeout(ask, isFirst ? 0 : REST_MS);
  }

  return {
    /** Open or close the panel, and return whether it is open. */
    turn() {
      host.hidden = !host.hidden;
      follow();
      return !host.hidden;
    },
    follow,
    destroy: () => clearTimeout(timer),
  };
}
