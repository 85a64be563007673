// The section Checks where there is no server: Python in a worker computes what did not come along.

import { defaultView } from "../choice/view.js";

/** @typedef {import("../explore/sections/checks.js").ReadLines} ReadLines */

const LEFT = "Something else has been asked for since.";
const NAMED = ["op", "rule", "range"]; // of a query; the other names are parameters
const PREFIX = /^p\./; // of those that are words of a link as well

/**
 * What asks Python for lines: who asks for the next ones does not wait for the last any more.
 * @param {import("./python.js").Python} python
 * @returns {ReadLines}
 */
export function createJudging({ ask }) {
  let last = new AbortController();

  return async (what, query, onWait) => {
    last.abort(new Error(LEFT));
    const { signal } = (last = new AbortController());
    try {
      return await ask(what, questionOf(what, query), onWait, signal);
    } catch (error) {
      return { message: /** @type {Error} */ (error).message };
    }
  };
}

/** What Python is given. @param {import("../explore/sections/checks.js").What} what @param {string} query */
export function questionOf(what, query) {
  const named = new URLSearchParams(query);
  const parameters = [...named].filter(([name]) => !NAMED.includes(name));
  const numbers = parameters.map(([name, text]) => [name.replace(PREFIX, ""), Number(text)]);
  const pair = { op: named.get("op"), rule: named.get("rule"), parameters: Object.fromEntries(numbers) };
  return what === "checks" ? pair : { ...pair, ...rangeOf(named) };
}

/** @param {URLSearchParams} named */
function rangeOf(named) {
  const ends = named.getAll("range").map(Number);
  const [start, stop] = ends.length ? ends : defaultView().range;
  return { start, stop };
}
