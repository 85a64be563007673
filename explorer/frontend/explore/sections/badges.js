// The badges of cards: of a rule whose check fails, the name of that check. Good news is silent.

import { fits, queryOf } from "../../choice/address.js";
import { alone } from "./beside.js";

/** @import { Brought, Line, ReadLines } from "./checks.js" */

const REST_MS = 1200; // a check takes a tenth of a second of the server: it is not asked for in passing
const FAILS = "fails";

/**
 * Look for failing checks whenever the choice has rested, each question once.
 * @param {{store: import("../../choice/store.js").Store, read: ReadLines, brought?: Brought,
 *   show: (failing: ReadonlyMap<number, Line>) => void}} options
 */
export function createBadges({ store, read, brought, show }) {
  /** @type {Map<string, Line|null>} by query; null where no check fails */
  const known = new Map();
  let timer = 0;
  let latest = 0;

  /** The question on a rule, null where nobody can answer it. @param {number} slot */
  function questionOf(slot) {
    const query = queryOf(alone(store.now, slot));
    const question = brought ? (brought.nearest(query)?.query ?? null) : query;
    return question !== null && fits(question) ? question : null;
  }

  function tell() {
    const { rules } = store.now;
    const lines = rules.map(({ slot }) => /** @type {const} */ ([slot, known.get(questionOf(slot) ?? "")]));
    show(new Map(lines.flatMap(([slot, line]) => (line ? [[slot, line]] : []))));
  }

  async function ask() {
    const number = ++latest;
    for (const { slot } of store.now.rules) {
      const query = questionOf(slot);
      if (query === null || known.has(query)) continue;
      const answer = await read("checks", query);
      if (answer && "lines" in answer)
        known.set(query, answer.lines.find(({ verdict }) => verdict === FAILS) ?? null);
      if (number !== latest) return;
    }
    tell();
  }

  const stop = store.follow((_choice, { phase }) => {
    latest += 1;
    clearTimeout(timer);
    if (phase !== "settled") return;
    tell();
    timer = setTimeout(ask, REST_MS);
  });
  return {
    destroy() {
      latest += 1;
      clearTimeout(timer);
      stop();
    },
  };
}
