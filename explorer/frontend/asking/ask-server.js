// Questions to Python, sent to the app's server.

import { TIMEOUT_MS, toPostOptions, toServerUrl, SILENT_TEXT } from "../choice/server.js";

const LONG_PATIENCE_MS = 120_000; // a lesson's numbers are computed for its first visitor
/**
 * The field that every valid answer has, by question. Curves are checked when they are decoded.
 * @type {Record<string, string>}
 */
export const FIELDS = {
  entry: "entry",
  formulas: "lines",
  code: "text",
  read: "readings",
  judge: "kind",
  lens: "words",
  implied: "rules",
  map: "rules",
  sizes: "rules",
  scaled: "entries",
  pull: "rules",
  rest: "rules",
  distances: "distances",
  checks: "lines",
  neighbours: "lines",
  row: "row",
  lesson: "scenes",
};

/**
 * Send a question to the Python server. Resolves to its answer, or to a ``message`` on failure.
 * @type {(...of: Parameters<import("./ask.js").Ask>) => Promise<import("./ask.js").Answer>}
 */
async function askServer(question, args, { signal } = {}) {
  const timeout = AbortSignal.timeout(question === "lesson" ? LONG_PATIENCE_MS : TIMEOUT_MS);
  const options = { ...toPostOptions(args), signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
  try {
    const response = await fetch(toServerUrl(`ask/${question}`), options);
    const failure = response.ok ? {} : { again: true, busy: response.status === 429 };
    const answer = await response.json();
    if (answer.message === undefined && FIELDS[question] && !(FIELDS[question] in answer)) throw new Error();
    return { ...answer, ...failure };
  } catch {
    return { message: SILENT_TEXT, again: true };
  }
}

/** @type {import("./ask.js").Ask} */
export const ask = Object.assign(askServer, { has: () => true });
