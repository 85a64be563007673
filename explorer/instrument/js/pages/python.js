// Own formulas where there is no server: Python answers for them in a worker, once somebody writes or opens one.

import { loaded } from "./files.js";

/** @typedef {NonNullable<import("../explore/instrument.js").Reach["read"]>} Read */
/** @typedef {"entry"|"formulas"|"code"} Question what explorer/site/own.py answers */
/** @typedef {{runtime: string, program: string, formatter: string}} Files addresses of what comes along */
/** @typedef {(words: string) => void} OnWait is told what is waited for, where something is */
/** @typedef {(question: Question, given: *, modules: Record<string, string>) => Promise<*>} Ask */

const LOADING = "Loading Python, which reads formulas …";
const GONE = "Python could not be loaded, and nothing else reads formulas: in the app they can be read";
const UNFIT =
  "Python does not start in this browser, and nothing else reads formulas: in the app they can be read";
const FAILED = "Python failed at it in this browser: in the app it can be had";

/**
 * Python, which is loaded when that is prepared or something is asked for the first time. What is asked is
 * rejected with words for the page.
 * @param {Files} files
 */
export function createPython(files) {
  let isReady = false;
  let hasFormatter = false;
  /** @type {Promise<Ask>|null} */
  let starting = null;

  function prepare() {
    starting ??= started(files, ended);
    starting.then(
      () => (isReady = true),
      () => (starting = null), // the next question tries again
    );
    return starting;
  }

  function ended() {
    isReady = hasFormatter = false;
    starting = null;
  }

  /** @param {Question} question @param {*} given @param {OnWait} [onWait] */
  async function ask(question, given, onWait) {
    const ready = prepare();
    if (!isReady) onWait?.(LOADING);
    const now = await ready;
    if (question !== "code" || hasFormatter) return now(question, given, {});
    const modules = await had(files.formatter);
    hasFormatter = true;
    return now(question, given, modules);
  }

  return { prepare, ask };
}

/**
 * What reads formulas as the app does.
 * @param {ReturnType<typeof createPython>} python
 * @returns {Read}
 */
export function createReader({ ask, prepare }) {
  /** @param {"op"|"rule"} kind @param {string} text @param {OnWait} [onWait] */
  const read = (kind, text, onWait) =>
    ask("entry", { kind, text }, onWait).catch((error) => ({ message: error.message, column: 0 }));
  return Object.assign(read, { prepare });
}

/** @param {string} address */
function had(address) {
  return loaded(address).catch(() => Promise.reject(new Error(GONE)));
}

/**
 * @param {Files} files
 * @param {() => void} onEnd when the worker has ended
 * @returns {Promise<Ask>}
 */
async function started({ runtime, program }, onEnd) {
  const [python, modules] = await Promise.all([had(runtime), had(program)]);
  const worker = new Worker(python.worker, { type: "module" });
  /** @type {Map<number, {resolve: (answer: *) => void, reject: (reason: *) => void}>} */
  const waiting = new Map();
  let count = 0;

  /** @type {Ask} */
  const ask = (question, given, more) =>
    new Promise((resolve, reject) => {
      waiting.set(++count, { resolve, reject });
      worker.postMessage({ number: count, question, given, modules: more });
    });

  return new Promise((resolve, reject) => {
    /** It is of no use any more. */
    function end() {
      worker.terminate();
      reject(new Error(UNFIT));
      for (const one of waiting.values()) one.reject(new Error(FAILED));
      onEnd();
    }

    worker.onerror = end;
    worker.onmessage = ({ data: { number, answer, failed } }) => {
      const asked = waiting.get(number);
      waiting.delete(number);
      if (!asked) return failed === undefined ? resolve(ask) : end();
      return failed === undefined ? asked.resolve(answer) : asked.reject(new Error(FAILED));
    };
    worker.postMessage({ files: python.files, packages: python.packages, modules });
  });
}
