// Badges on the cards of backward rules, each with the name of a failing check.

import { getRuleArguments } from "../../asking/ask.js";

/** @import { Line } from "./checks.js" */

const REST_MS = 1200; // settings that change again sooner are not checked, because a check takes 0.1 s on the server
const FAILS = "fails";

/**
 * Run Python's checks whenever the user pauses, and show which rules fail.
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk,
 *   show: (failing: ReadonlyMap<number, Line>) => void}} options
 */
export function createBadges({ store, ask, show }) {
  let timer = 0;
  let latest = 0;

  function tell() {
    const failing = store.current.rules.flatMap(({ slot }) => {
      const line = ask
        .known("checks", getRuleArguments(store.current, slot))
        ?.lines?.find((/** @type {Line} */ { verdict }) => verdict === FAILS);
      return line ? [/** @type {[number, Line]} */ ([slot, line])] : [];
    });
    show(new Map(failing));
  }

  async function look() {
    const number = ++latest;
    for (const { slot } of store.current.rules) {
      await ask("checks", getRuleArguments(store.current, slot));
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
