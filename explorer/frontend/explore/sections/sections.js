// The sections Formula, Code and Data below the chart.

import { createCode } from "./code.js";
import { createFormulas } from "./formulas.js";
import { createTable } from "./table.js";

const OPEN = new Set(["formula", "code", "data", "paste"]);

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk, languages: string[],
 *   notebook: string}} options ``languages`` by name, that of a notebook among them
 */
export function createSections(host, options) {
  const { store } = options;
  const stop = store.subscribeNow(({ section }) => (host.hidden = !OPEN.has(section))); // before the parts, which measure their space
  const parts = [createFormulas(host, options), createCode(host, options), createTable(host, options)];
  return {
    /** The curves of the chart at rest. @param {import("../stage/stage.js").Displayed} displayed */
    show: (displayed) => parts.forEach((part) => part.show(displayed)),
    destroy() {
      stop();
      parts.forEach((part) => part.destroy());
    },
  };
}
