// The code of what is trained, as a plain PyTorch script that stands above the foot of the page.

import { isCopied } from "../../elements/clipboard.js";
import { element, setAttribute, setText } from "../../elements/dom.js";

const REST_MS = 300; // of rest, before the script of other settings is asked for
const HINT = "A script with torch alone: it computes the same losses.";

/**
 * @param {HTMLElement} host
 * @param {{scriptKey: () => string, onScript: () => Promise<{text?: string, message?: string}>}} on ``scriptKey`` is
 *   another one where the script is
 */
export function createScript(host, { scriptKey, onScript }) {
  const note = element("p", { role: "status" });
  const copy = element("button", { onclick: take }, "Copy");
  const text = element("code", {});
  const block = element("pre", { tabindex: 0, role: "region", "aria-label": "PyTorch script" }, text);
  let asked = "";
  let timer = 0;
  host.append(element("header", {}, note, copy), block);
  host.hidden = true;

  async function take() {
    const done = await isCopied(text.textContent);
    setText(note, done ? "Copied." : "The browser does not allow it: select the code and copy it.");
  }

  async function ask() {
    const mine = asked;
    const answer = await onScript();
    if (mine !== asked) return;
    setText(text, answer.text ?? "");
    setText(note, answer.message ?? HINT);
    setAttribute(copy, "hidden", !answer.text);
  }

  function follow() {
    const key = host.hidden ? asked : scriptKey();
    if (key === asked) return;
    const isFirst = asked === "";
    asked = key;
    clearTimeout(timer);
    timer = setTimeout(ask, isFirst ? 0 : REST_MS);
  }

  return {
    /** Open or close it; whether it is open. */
    turn() {
      host.hidden = !host.hidden;
      follow();
      return !host.hidden;
    },
    follow,
    destroy: () => clearTimeout(timer),
  };
}
