// The sections Formula, Code and Data below the chart.

import { createCode } from "./code.js";
import { createFormulas } from "./formulas.js";
import { createTable } from "./table.js";

const SECTION_KEYS = new Set(["formula", "code", "data"]);

/**
 * Create the sections Formula, Code and Data below the chart.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk, languages:
 *   string[], notebook: string}} options ``languages``: their names; ``notebook``: which is a Jupyter notebook
 */
export function createSections(host, options) {
  const { store } = options;
  // before the sections are filled, because they measure their size
  const stop = store.subscribeNow(({ section }) => (host.hidden = !SECTION_KEYS.has(section)));
  const parts = [createFormulas(host, options), createCode(host, options), createTable(host, options)];
  return {
    /**
     * Pass the curves of the chart to all sections. Called when the user pauses.
     * @param {import("../stage/stage.js").Displayed} displayed
     */
    show: (displayed) => parts.forEach((part) => part.show(displayed)),
    destroy() {
      stop();
      parts.forEach((part) => part.destroy());
    },
  };
}
