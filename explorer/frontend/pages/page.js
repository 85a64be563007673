// The page of the one choice: instrument and address.

import { isBareAddress } from "../choice/address.js";
import { syncAddress } from "../choice/history.js";
import { createInstrument } from "../explore/page/instrument.js";
import { store } from "../choice/store.js";
import { createStage } from "./stage.js";

/**
 * The instrument of the choice that all pages share, in an element that holds its skeleton. ``enter`` makes it
 * one of this page, by what brought the visitor here.
 * @param {HTMLElement} root
 * @param {import("../choice/choice.js").Choice} first what a visitor without a choice has
 * @param {import("../explore/page/instrument.js").Reach} reach
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

  /** @param {"arrival"|"start"} origin */
  function announce(origin) {
    store.change({ ...store.current }, { origin });
  }

  return {
    root,
    /** Python is there, and has read the address. */
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
