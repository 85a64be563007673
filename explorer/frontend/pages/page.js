// A page whose settings are shared with the other pages and written into its address.

import { isBareAddress } from "../choice/address.js";
import { syncAddress } from "../choice/history.js";
import { createInstrument } from "../explore/page/instrument.js";
import { store } from "../choice/store.js";
import { createStage } from "./stage.js";

/**
 * Create the chart and controls of a page from the settings that all pages share. ``enter`` adapts the settings to
 * this page, given where the visitor comes from.
 * @param {HTMLElement} root
 * @param {import("../choice/choice.js").Choice} first the initial choice, for visitors without one
 * @param {import("../explore/page/instrument.js").InstrumentOptions} reach
 * @param {(choice: import("../choice/choice.js").Choice,
 *   by: "nothing"|"link"|"page") => import("../choice/choice.js").Choice} [enter]
 */
export function createPage(root, first, reach, enter = (choice) => choice) {
  const by = store.choice ? "page" : isBareAddress(location.search) ? "nothing" : "link";
  store.change(enter(store.choice ?? first, by), { origin: "arrival" });
  const framed = new URLSearchParams(location.search).has("embed");
  const instrument = createInstrument(root, store, { ...reach, calm: reach.calm && !framed });
  const leaveAddress = syncAddress(store);
  root.classList.toggle("framed", framed);
  const stage = framed ? null : createStage(root, { store, onChange: instrument.refresh });
  announce("arrival");

  /**
   * Notify all subscribers of settings that come from a link or from the start of the page.
   * @param {"arrival"|"start"} origin
   */
  function announce(origin) {
    store.change({ ...store.current }, { origin });
  }

  return {
    root,
    /** Start the page with the settings that Python has read from the page's address. */
    join() {
      instrument.refresh();
      announce("start");
    },
    destroy() {
      leaveAddress();
      stage?.destroy();
      instrument.destroy();
    },
  };
}
