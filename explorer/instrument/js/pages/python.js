// Where there is no server Python answers in a worker: for own formulas, and for rules that are to be checked.

import { loaded } from "./files.js";

/** @typedef {NonNullable<import("../explore/instrument.js").Reach["read"]>} Read */
/** @typedef {"entry"|"formulas"|"code"|"checks"|"neighbours"|"words"} Question what explorer/site/own.py answers, or judging.py */
/** @typedef {{runtime: string, program: string, formatter: string, judging: string}} Files addresses of what comes along */
/** @typedef {(words: string) => void} OnWait is told what is waited for, where something is */
/**
 * @typedef {((question: Question, given: *, modules: Record<string, string>) => Promise<*>)
 *   & {end: (words: string) => void}} Ask
 */
const FAILED = "Python failed at it in this browser: in the app it can be had";

/** What is said while Python is loaded, and where it cannot be. @param {string} task such as "reads formulas" */
const wordsOf = (task) => ({
  loading: `Loading Python, which ${task} …`,
  gone: `Python could not be loaded, and nothing else here ${task}: the app does`,
  unfit: `Python does not start in this browser, and nothing else here ${task}: the app does`,
});
/** @typedef {ReturnType<typeof wordsOf>} Words */

/**
 * Python, which is loaded when that is prepared or something is asked for the first time. What is asked is
 * rejected with words for the page.
 * @param {Files} files
 * @param {"program"|"judging"} program which of them it runs
 * @param {string} task what it is for, in words such as "reads formulas"
 */
export function createPython(files, program, task) {
  const words = wordsOf(task);
  let isReady = false;
  let hasFormatter = false;
  /** @type {Promise<Ask>|null} */
  let starting = null;

  /** @param {OnWait} [onWait] */
  function prepare(onWait) {
    if (!isReady) onWait?.(words.loading);
    starting ??= started(files.runtime, files[program], words, ended);
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
    const now = await prepare(onWait);
    if (question !== "code" || hasFormatter) return now(question, given, {});
    const modules = await had(files.formatter, words);
    hasFormatter = true;
    return now(question, given, modules);
  }

  /** Have it end, and say why to who still waits for an answer. @param {string} why */
  async function end(why) {
    (await starting)?.end(why);
  }

  return { prepare, ask, end };
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

/** @param {string} address @param {{gone: string}} words */
function had(address, { gone }) {
  return loaded(address).catch(() => Promise.reject(new Error(gone)));
}

/**
 * @param {string} runtime
 * @param {string} program
 * @param {Words} words
 * @param {() => void} onEnd when the worker has ended
 * @returns {Promise<Ask>}
 */
async function started(runtime, program, words, onEnd) {
  const [python, ours] = await Promise.all([had(runtime, words), had(program, words)]);
  const worker = new Worker(python.worker, { type: "module" });
  /** @type {Map<number, {resolve: (answer: *) => void, reject: (reason: *) => void}>} */
  const waiting = new Map();
  let count = 0;

  /** @param {Question} question @param {*} given @param {Record<string, string>} modules */
  const ask = (question, given, modules) =>
    new Promise((resolve, reject) => {
      waiting.set(++count, { resolve, reject });
      worker.postMessage({ number: count, question, given, modules });
    });

  return new Promise((resolve, reject) => {
    /** It is of no use any more. @param {string} why */
    function end(why) {
      worker.terminate();
      reject(new Error(words.unfit));
      for (const one of waiting.values()) one.reject(new Error(why));
      waiting.clear();
      onEnd();
    }

    worker.onerror = () => end(FAILED);
    worker.onmessage = ({ data: { number, answer, failed } }) => {
      const asked = waiting.get(number);
      waiting.delete(number);
      if (!asked) return failed === undefined ? resolve(Object.assign(ask, { end })) : end(FAILED);
      return failed === undefined ? asked.resolve(answer) : asked.reject(new Error(FAILED));
    };
    worker.postMessage({ files: python.files, packages: python.packages, ...ours });
  });
}
