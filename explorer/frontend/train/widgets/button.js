// A button that keeps its focus, and the status of what it begins.

import { element, setAttribute, setText } from "../../elements/dom.js";

/** @param {string} name @param {() => void} act @param {string} [kind] */
export function button(name, act, kind = "") {
  const onclick = () => node.getAttribute("aria-disabled") ?? act();
  const node = element("button", { class: kind, onclick }, name);
  return node;
}

/** A button that keeps the focus also while it does nothing. @param {HTMLElement} node @param {boolean} is */
export function available(node, is) {
  setAttribute(node, "aria-disabled", is ? null : "true");
}

/**
 * The status of a run or study: the share that is done, numbers by their names, the sentence, and what is next.
 * @param {HTMLElement} host
 * @param {string} label of the share
 * @param {string[]} names
 */
export function createStatus(host, label, names) {
  const metrics = names.map(metric);
  const bar = element("progress", { "aria-label": label, max: 1 });
  const main = element("p", { class: "main", role: "status" });
  const next = element("p", { class: "next" });
  const said = element("div", { class: "said-of-run" }, main, next);
  host.append(bar, said, element("div", { class: "metrics" }, ...metrics.map((one) => one.element)));
  return {
    /** @param {{metrics: string[], taken: number, status: {main: string, next: string, state: string}}} picture */
    show({ metrics: values, taken, status: words }) {
      metrics.forEach((one, index) => setText(one.value, values[index]));
      bar.value = taken;
      setText(main, words.main);
      setText(next, words.next);
      setAttribute(host, "data-state", words.state);
    },
  };
}

/** A number with its name. @param {string} name */
function metric(name) {
  const value = element("span", {});
  return { value, element: element("span", { class: "metric" }, element("b", {}, name), " ", value) };
}
