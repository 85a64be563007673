// A page whose settings all pages share and whose address contains them.

import { isBareAddress } from "../choice/address.js";
import { takeLeftChoice } from "../class/membership.js";
import { syncAddress } from "../choice/history.js";
import { createInstrument } from "../explore/page/instrument.js";
import { store } from "../choice/store.js";
import { createStage } from "./stage.js";

/**
 * Create the chart and controls of a page from the settings that all pages share.
 * @param {HTMLElement} root @param {import("../choice/choice.js").Choice} first settings for visitors without any
 * @param {import("../explore/page/instrument.js").InstrumentOptions} reach
 * @param {(choice: import("../choice/choice.js").Choice, by: "nothing"|"link"|"page") =>
 *   import("../choice/choice.js").Choice} [enter] adapts settings to this page, given their origin
 */
export function createPage(root, first, reach, enter = (choice) => choice) {
  const isBare = isBareAddress(location.search);
  const known = store.choice ?? (isBare ? takeLeftChoice() : null);
  const by = known ? "page" : isBare ? "nothing" : "link";
  const shared = known ?? first;
  const tools = by === "page" && shared.tools !== "all" ? "" : shared.tools; // Settings and Evidence are of one page
  store.change(enter({ ...shared, tools }, by), { origin: "arrival" });
  const framed = new URLSearchParams(location.search).has("embed");
  const instrument = createInstrument(root, store, { ...reach, calm: reach.calm && !framed });
  const leaveAddress = syncAddress(store);
  root.classList.toggle("framed", framed);
  const stage = framed ? null : createStage(root, { store, onChange: instrument.refresh });
  announce("arrival");

  /** @param {"arrival"|"start"} origin a visited link, or the start of the page */
  function announce(origin) {
    store.change({ ...store.current }, { origin });
  }

  return {
    root,
    /** Take on the settings that Python has read from the address of the page. */
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
