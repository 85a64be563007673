// Badges on the cards of backward rules: the failed checks and, for a drawn rule, the most similar catalogue rule.

import { getRuleArguments } from "../../asking/ask.js";
import { getDrawing } from "../../choice/drawing.js";

/** @import { Line } from "./checks.js" */

const REST_MS = 1200; // pause before a check, which takes the server 0.1 s
const FAILS = "fails";

/**
 * Run Python's checks whenever the user pauses. Report the failed checks of each rule, with the first one's sentence,
 * and the catalogue rule most similar to a drawn one.
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk, show: (failing:
 *   ReadonlyMap<number, Line>, close: ReadonlyMap<number, string>) => void}} options ``show``: called with failed
 *   checks, and sentences about similar rules, by colour slot
 */
export function createBadges({ store, ask, show }) {
  let timer = 0;
  let latest = 0;

  const getDrawnSlots = () =>
    store.current.rules.filter(({ key }) => getDrawing(key)).map(({ slot }) => slot);

  /** @param {number} slot the rule's slot */
  function argumentsOf(slot) {
    const [start, stop] = store.current.range;
    return { ...getRuleArguments(store.current, slot), start, stop };
  }

  function tell() {
    const [failing, close] = [new Map(), new Map()];
    for (const { slot } of store.current.rules) {
      const { lines = [] } = ask.known("checks", getRuleArguments(store.current, slot)) ?? {};
      const failed = lines.filter((/** @type {Line} */ { verdict }) => verdict === FAILS);
      const name = failed.map((/** @type {Line} */ line) => line.name).join(", ");
      if (name) failing.set(slot, { ...failed[0], name });
    }
    for (const slot of getDrawnSlots())
      close.set(slot, ask.known("neighbours", argumentsOf(slot))?.close ?? "");
    show(failing, close);
  }

  async function look() {
    const number = ++latest;
    for (const { slot } of store.current.rules) {
      await ask("checks", getRuleArguments(store.current, slot));
      if (number !== latest) return;
    }
    tell();
    for (const slot of getDrawnSlots()) if (number === latest) await ask("neighbours", argumentsOf(slot));
    if (number === latest) tell();
  }

  const stop = store.subscribeNow((_choice, { phase }) => {
    latest += 1;
    clearTimeout(timer);
    if (phase !== "settled") return;
    tell();
    timer = setTimeout(look, REST_MS);
  });
  return {
    destroy() {
      latest += 1;
      clearTimeout(timer);
      stop();
    },
  };
}
