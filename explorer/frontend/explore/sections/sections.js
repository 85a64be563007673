// The sections below the chart without a server: from the site's files, or computed in the browser.

import { createCode } from "./code.js";
import { createElsewhere } from "./elsewhere.js";
import { createFormulas } from "./formulas.js";
import { createTable } from "./table.js";

/**
 * @typedef {import("./code.js").CodeReach & import("./formulas.js").FormulaReach
 *   & {elsewhere: import("./elsewhere.js").Elsewhere}} SectionsReach
 */

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store} & SectionsReach} options
 */
export function createSections(host, options) {
  const { store, elsewhere } = options;
  const open = new Set(["formula", "code", "data", "paste", ...Object.keys(elsewhere.names)]);
  const arrange = (/** @type {import("../../choice/choice.js").Choice} */ { section }) =>
    (host.hidden = !open.has(section));
  const stop = store.follow(arrange); // before the parts, which measure their space
  const table = createTable(host, options);
  const parts = [
    createElsewhere(host, { store, ...elsewhere }),
    createFormulas(host, options),
    createCode(host, options),
    table,
  ];
  return {
    /** The curves of the chart at rest. */
    show: table.show,
    destroy() {
      stop();
      parts.forEach((part) => part.destroy());
    },
  };
}
