// The badges of cards: of a rule whose check fails, the name of that check. Good news is silent.

import { ruleArguments } from "../../asking/ask.js";

/** @import { Line } from "./checks.js" */

const REST_MS = 1200; // a check takes a tenth of a second of the server: it is not asked for in passing
const FAILS = "fails";

/**
 * Look for failing checks whenever the choice has rested, each question once.
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk,
 *   show: (failing: ReadonlyMap<number, Line>) => void}} options
 */
export function createBadges({ store, ask, show }) {
  let timer = 0;
  let latest = 0;

  function tell() {
    const failing = store.current.rules.flatMap(({ slot }) => {
      const line = ask
        .known("checks", ruleArguments(store.current, slot))
        ?.lines?.find((/** @type {Line} */ { verdict }) => verdict === FAILS);
      return line ? [/** @type {[number, Line]} */ ([slot, line])] : [];
    });
    show(new Map(failing));
  }

  async function look() {
    const number = ++latest;
    for (const { slot } of store.current.rules) {
      await ask("checks", ruleArguments(store.current, slot));
      if (number !== latest) return;
    }
    tell();
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
