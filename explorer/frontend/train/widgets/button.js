// A button that keeps its focus while disabled, and the status of a run or study.

import { element, setAttribute, setText } from "../../elements/dom.js";

// States of which the visitor should know before going on.
const WARNINGS = ["lost", "refused", "failed", "diverged", "gone", "silent", "crowded"];

/** Create a button. @param {string} name @param {() => void} act @param {string} [kind] its CSS class */
export function createButton(name, act, kind = "") {
  const handleClick = () => node.getAttribute("aria-disabled") ?? act();
  const node = element("button", { class: kind, onclick: handleClick }, name);
  return node;
}

/** Enable or disable a button, which keeps its focus. @param {HTMLElement} node @param {boolean} isAvailable */
export function setAvailable(node, isAvailable) {
  setAttribute(node, "aria-disabled", isAvailable ? null : "true");
}

/**
 * Create the status of a run or study: a progress bar, numbers and two sentences.
 * @param {HTMLElement} host @param {string} label accessible name of the progress bar
 * @param {string[]} names names of the numbers
 */
export function createStatus(host, label, names) {
  const metrics = names.map((name) => {
    const value = element("span", {});
    return { value, element: element("span", { class: "metric" }, element("b", {}, name), " ", value) };
  });
  const bar = element("progress", { "aria-label": label, max: 1 });
  const main = element("p", { class: "main", role: "status" });
  const next = element("p", { class: "next text-small" });
  const sentences = element("div", { class: "said-of-run" }, main, next);
  host.append(bar, sentences, element("div", { class: "metrics" }, ...metrics.map((one) => one.element)));
  return {
    /**
     * @param {{metrics: string[], taken: number, status: {main: string, next: string, state: string}}} picture
     *   ``taken``: progress from 0 to 1
     */
    show({ metrics: values, taken, status: words }) {
      metrics.forEach((one, index) => setText(one.value, values[index]));
      bar.value = taken;
      setText(main, words.main);
      setText(next, words.next);
      setAttribute(host, "data-state", words.state);
      setAttribute(host, "data-warns", WARNINGS.includes(words.state));
    },
  };
}
