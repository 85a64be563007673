// The button that saves the whole instrument as one file.

import { queryOf } from "../choice/address.js";
import { element } from "../elements/dom.js";

/**
 * @param {HTMLElement} host
 * @param {{store: import("../choice/store.js").Store, address: string}} options ``address``
 *   answers the query of a choice with the file
 */
export function createTakeAway(host, { store, address }) {
  const link = element("a", { class: "save", download: true }, "Save as HTML");
  const show = (/** @type {import("../choice/choice.js").Choice} */ choice) =>
    (link.href = `${address}?${queryOf(choice)}`);
  host.append(link);
  const stop = store.subscribe((choice, { phase }) => phase === "settled" && show(choice));
  if (store.choice) show(store.choice);
  return { destroy: stop };
}
