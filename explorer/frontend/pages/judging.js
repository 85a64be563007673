// The section Checks without a server: Python in a worker computes lines that are not among the site's files.

import { defaultView } from "../choice/view.js";

/** @import { ReadLines, What } from "../explore/sections/checks.js" */

const LEFT = "Something else has been asked for since.";
const NAMED = ["op", "rule", "range"]; // of a query; the other names are parameters
const PREFIX = /^p\./; // of those that are words of a link as well

/**
 * The function that asks Python for lines: a new question no longer waits for the answer of the last.
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

/** The arguments of a question to Python. @param {What} what @param {string} query */
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
