// The page of the one choice: instrument, address, and reports to Python.

import { isBare, queryOf } from "../choice/address.js";
import { followAddress } from "../choice/history.js";
import { createInstrument } from "../explore/page/instrument.js";
import { store } from "../choice/store.js";
import { createStage } from "./stage.js";

/** @typedef {(query: string) => void} Report */

const REPORT_MS = 250; // of rest, before the page below follows

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
  let said = queryOf(first);
  let report = /** @type {Report|null} */ (null);
  let timer = 0;
  const by = store.choice ? "page" : isBare(location.search) ? "nothing" : "link";
  store.change(enter(store.choice ?? first, by), { origin: "arrival" });
  const framed = new URLSearchParams(location.search).has("embed");
  const instrument = createInstrument(root, store, { ...reach, calm: reach.calm && !framed });
  const leaveAddress = followAddress(store);
  root.classList.toggle("framed", framed);
  const stage = framed ? null : createStage(root, { store, onChange: instrument.refresh });
  const stop = store.subscribe((_choice, { phase }) => {
    clearTimeout(timer);
    if (phase === "settled" && !root.matches(".training")) timer = setTimeout(tell, REPORT_MS);
  });
  const end = new AbortController();
  // A report between the press on a link and the page it leads to would bring this one back.
  addEventListener("click", pressed, { capture: true, signal: end.signal });
  announce("arrival");

  /**
   * Withhold what is not reported yet until the next change: this page is being left, however long that takes.
   * @param {MouseEvent} event
   */
  function pressed({ target, ctrlKey, metaKey, shiftKey }) {
    const link = /** @type {HTMLAnchorElement|null} */ (
      target instanceof Element && target.closest("a[href]")
    );
    if (!link || link.hasAttribute("download") || link.target === "_blank" || ctrlKey || metaKey || shiftKey)
      return;
    clearTimeout(timer);
  }

  /** @param {"arrival"|"start"} origin */
  function announce(origin) {
    store.change({ ...store.now }, { origin });
  }

  function tell() {
    const query = queryOf(store.now);
    if (report && query !== said) {
      report(query);
      said = query;
    }
  }

  return {
    root,
    /** Report every choice from now on: Python is there, and has read the address. @param {Report} next */
    join(next) {
      report = next;
      instrument.refresh();
      announce("start");
    },
    destroy() {
      clearTimeout(timer);
      end.abort();
      stop();
      leaveAddress();
      stage?.destroy();
      instrument.destroy();
    },
  };
}
