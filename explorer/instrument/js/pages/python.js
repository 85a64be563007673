// Own formulas where there is no server: Python reads them in a worker, once somebody writes or opens one.

import { loaded } from "./files.js";

/** @typedef {NonNullable<import("../explore/instrument.js").Reach["read"]>} Read */
/** @typedef {Awaited<ReturnType<Read>>} Answer */
/** @typedef {(kind: "op"|"rule", text: string) => Promise<Answer>} Ask */

const LOADING = "Loading Python, which reads formulas …";
const FAILED = "Python could not be loaded, and nothing else reads formulas: in the app they can be read";

/**
 * What reads formulas as the app does; Python is loaded when that is prepared or done for the first time.
 * @param {{runtime: string, program: string}} files addresses of what explorer/site/python.py hands over
 * @returns {Read}
 */
export function createReader(files) {
  let isReady = false;
  /** @type {Promise<Ask>|null} */
  let starting = null;

  function prepare() {
    starting ??= started(files);
    starting.then(
      () => (isReady = true),
      () => (starting = null), // the next formula tries again
    );
    return starting;
  }

  /**
   * @param {"op"|"rule"} kind
   * @param {string} text
   * @param {(words: string) => void} [onWait]
   * @returns {Promise<Answer>}
   */
  async function read(kind, text, onWait) {
    try {
      const ready = prepare();
      if (!isReady) onWait?.(LOADING);
      return await (
        await ready
      )(kind, text);
    } catch {
      return { message: FAILED, column: 0 };
    }
  }

  return Object.assign(read, { prepare });
}

/** @param {{runtime: string, program: string}} files @returns {Promise<Ask>} */
async function started({ runtime, program }) {
  const [python, modules] = await Promise.all([loaded(runtime), loaded(program)]);
  const worker = new Worker(python.worker, { type: "module" });
  /** @type {Map<number, {resolve: (answer: Answer) => void, reject: (reason: *) => void}>} */
  const waiting = new Map();
  let count = 0;

  /** @type {Ask} */
  const ask = (kind, text) =>
    new Promise((resolve, reject) => {
      waiting.set(++count, { resolve, reject });
      worker.postMessage({ number: count, kind, text });
    });

  return new Promise((resolve, reject) => {
    worker.onerror = ({ message }) =>
      [{ reject }, ...waiting.values()].forEach((one) => one.reject(new Error(message)));
    worker.onmessage = ({ data: { number, answer, failed } }) => {
      const asked = waiting.get(number) ?? { resolve: () => resolve(ask), reject };
      waiting.delete(number);
      if (failed === undefined) asked.resolve(answer);
      else asked.reject(new Error(failed));
    };
    worker.postMessage({ files: python.files, packages: python.packages, program: modules });
  });
}
