// Pasted code: read as one types, shown as formulas, drawn on a button.

import { createEditor } from "../../editor/editor.js";
import { element, setText } from "../../elements/dom.js";
import { parseMessage } from "../../choice/message.js";
import { pickView } from "../../choice/view.js";

/**
 * A Function in pasted code: its formulas, those of the gradients for its parameters by name, notes on omissions and
 * the choice that shows them, or the reason why it cannot be drawn; ``at`` is the line of a fault, 0 for none.
 * @typedef {{name: string, line: number, op?: string, rule?: string, learned?: Object<string, string>,
 *   notes?: string[], choice?: *, message?: string, at?: number}} Reading
 */

/**
 * The box for code and the readings of it.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").Ask, onShow: () => void}} options
 *   ``onShow`` is called when a curve has been chosen
 */
export function createPaste(host, { store, ask, onShow }) {
  let turn = 0;
  const editor = createEditor({
    label: "Paste a torch.autograd.Function",
    rows: 12,
    placeholder: "class RoundGradient(torch.autograd.Function): …",
    onRest: reading,
  });
  const results = element("div", { class: "found", role: "status" });
  const promise = element("p", {}, "The code is read, not run: lines that cannot be drawn are named.");
  host.append(element("div", { class: "paste" }, element("div", {}, editor.element, promise), results));

  /** @param {string} text */
  async function reading(text) {
    const mine = ++turn;
    const onWait = (/** @type {string} */ words) => mine === turn && setText(results, words);
    const { readings = [], ...answer } = text.trim() ? await ask("read", { code: text }, { onWait }) : {};
    if (mine !== turn) return;
    const parts = /** @type {{at?: number}[]} */ (answer.message ? [answer] : readings);
    editor.mark(parts.find(({ at }) => at)?.at ?? 0);
    results.replaceChildren(...(answer.message ? [element("p", {}, answer.message)] : readings.map(finding)));
  }

  /** @param {Reading} reading */
  function finding({ name, line, op, rule, learned = {}, notes = [], choice, message }) {
    const title = element("h3", {}, `${name}, line ${line}`);
    if (!choice) return element("section", {}, title, element("p", {}, message ?? ""));
    const button = element("button", { onclick: () => take(choice) }, "Show its curve");
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

  /** @param {*} choice */
  function take(choice) {
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
