// The section Checks where there is no server: Python in a worker of its own computes what did not come along.

import { catalogue } from "../choice/entries.js";
import { createPython } from "./python.js";

/** @typedef {import("../explore/checks.js").ReadLines} ReadLines */

const LIMIT_S = 120; // see LONG
const LONG =
  "This takes longer than two minutes in this browser, and was given up: in the app it takes seconds.";
const LEFT = "Something else has been asked for since.";
const NAMED = ["op", "rule", "range"]; // of a query; the other names are parameters
const PREFIX = /^p\./; // of those that are words of a link as well

/**
 * What asks Python for lines, one question at a time: who asks for the next one does not wait for the last any more.
 * @param {import("./python.js").Files} files
 * @param {{limit_s?: number}} [options]
 * @returns {ReadLines}
 */
export function createJudging(files, { limit_s = LIMIT_S } = {}) {
  const python = createPython(files, "judging", "computes this");
  let asked = 0;
  let computing = 0; // the number of the question that is

  return async (what, query, onWait) => {
    const number = (asked += 1);
    let timer = 0;
    try {
      if (computing) await python.end(LEFT);
      await python.prepare(onWait);
      if (number < asked) return { message: LEFT };
      onWait?.("");
      computing = number;
      timer = setTimeout(() => python.end(LONG), 1000 * limit_s);
      return await python.ask(what, questionOf(what, query));
    } catch (error) {
      return { message: /** @type {Error} */ (error).message };
    } finally {
      clearTimeout(timer);
      if (computing === number) computing = 0;
    }
  };
}

/** What Python is given. @param {import("../explore/checks.js").What} what @param {string} query */
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
  const [start, stop] = ends.length ? ends : catalogue().link.defaults.range;
  return { start, stop };
}
