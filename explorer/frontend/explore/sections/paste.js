// Parses pasted Python code while the user types, shows the formulas found, and plots them on demand.

import { createEditor } from "../../editor/editor.js";
import { element, setText } from "../../elements/dom.js";
import { parseMessage } from "../../choice/message.js";
import { pickView } from "../../choice/view.js";

/**
 * A Function in pasted code: its formulas, the formulas of its parameters' gradients by name, notes on omissions and
 * the choice that shows them, or the reason why it cannot be plotted; ``at`` is the line of an error, or 0.
 * @typedef {{name: string, line: number, op?: string, rule?: string, learned?: Object<string, string>,
 *   notes?: string[], choice?: *, message?: string, at?: number}} Reading
 */

/**
 * Create the editor for pasted code, with a list of the autograd Functions found.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").Ask, onShow: () => void}} options
 *   ``onShow`` is called when a curve has been chosen
 */
export function createPaste(host, { store, ask, onShow }) {
  let latest = 0;
  const editor = createEditor({
    label: "Paste a torch.autograd.Function",
    rows: 12,
    placeholder: "class RoundGradient(torch.autograd.Function): …",
    onRest: showFunctions,
  });
  const results = element("div", { class: "found", role: "status" });
  const hint = element("p", {}, "The code is read, not run: lines that cannot be drawn are named.");
  host.append(element("div", { class: "paste" }, element("div", {}, editor.element, hint), results));

  /** Show the autograd Functions found in pasted code. @param {string} text */
  async function showFunctions(text) {
    const id = ++latest;
    const onWait = (/** @type {string} */ words) => id === latest && setText(results, words);
    const { readings = [], ...answer } = text.trim() ? await ask("read", { code: text }, { onWait }) : {};
    if (id !== latest) return;
    const parts = /** @type {{at?: number}[]} */ (answer.message ? [answer] : readings);
    editor.mark(parts.find(({ at }) => at)?.at ?? 0);
    results.replaceChildren(
      ...(answer.message ? [element("p", {}, answer.message)] : readings.map(createFinding)),
    );
  }

  /** Create the list entry of an autograd Function found in pasted code. @param {Reading} reading */
  function createFinding({ name, line, op, rule, learned = {}, notes = [], choice, message }) {
    const title = element("h3", {}, `${name}, line ${line}`);
    if (!choice) return element("section", {}, title, element("p", {}, message ?? ""));
    const button = element("button", { onclick: () => showCurve(choice) }, "Show its curve");
    return element(
      "section",
      {},
      title,
      element("code", {}, `y = ${op}`),
      element("code", {}, `gradient = ${rule}`),
      ...Object.entries(learned).map(([of, sum]) => element("code", {}, `gradient for ${of} = ${sum}`)),
      ...notes.map((note) => element("p", {}, note)),
      button,
    );
  }

  /** Plot the curve of an autograd Function. @param {*} choice */
  function showCurve(choice) {
    const now = store.current;
    store.change({ ...parseMessage(choice), ...pickView(now), training: now.training });
    onShow();
  }

  const stop = store.subscribeNow(({ section }) => (host.hidden = section !== "paste"));
  return {
    destroy() {
      editor.destroy();
      stop();
    },
  };
}
