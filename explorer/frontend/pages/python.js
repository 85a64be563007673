// Python in a worker, without a server: questions on own formulas and on rules to be checked.

import { loaded } from "./files.js";

/** @typedef {NonNullable<import("../explore/page/instrument.js").Reach["read"]>} Read */
/** @typedef {keyof typeof TASKS} Question what explorer/site/own.py answers, or judging.py */
/** @typedef {{runtime: string, program: string, formatter: string, judging: string}} Files addresses of what comes along */
/** @typedef {(words: string) => void} OnWait gets the reason of a wait, and "" at its end */
/**
 * @typedef {{ask: (question: Question, input: *, modules: Record<string, string>) => Promise<*>,
 *   end: (why: Error) => void}} Interpreter ``end`` rejects the present question, and ends the worker
 * @typedef {ReturnType<typeof createPython>} Python
 */

/** Python's work for each question, in words. */
const TASKS = {
  entry: "reads formulas",
  formulas: "reads formulas",
  code: "reads formulas",
  checks: "computes this",
  neighbours: "computes this",
  words: "puts this into words",
};
const GONE = "could not be loaded";
const UNFIT = "does not start in this browser";
const FAILED = "Python failed at it in this browser: in the app it can be had";
const LIMIT_S = 120; // see LONG
const LONG =
  "This takes longer than two minutes in this browser, and was given up: in the app it takes seconds.";

/**
 * Python, which is loaded when that is prepared or something is asked for the first time, and answers one question
 * after the other. What is asked is rejected with words for the page.
 * @param {Files} files
 * @param {"program"|"judging"} program which of them it runs
 * @param {{limit_s?: number}} [options] ``limit_s`` is the longest that a question may take
 */
export function createPython(files, program, { limit_s = LIMIT_S } = {}) {
  let isReady = false;
  let hasFormatter = false;
  /** @type {Promise<Interpreter>|null} */
  let starting = null;
  /** @type {Promise<*>} */
  let last = Promise.resolve(); // settles once the last question is answered

  /** @param {Question} question that is to come @param {OnWait} [onWait] @returns {Promise<Interpreter>} */
  async function prepare(question, onWait) {
    const wait = isReady ? undefined : onWait;
    wait?.(`Loading Python, which ${TASKS[question]} …`);
    starting ??= begun();
    const interpreter = await starting.catch(({ message }) => Promise.reject(lacking(message, question)));
    wait?.("");
    return interpreter;
  }

  async function begun() {
    try {
      const interpreter = await started(files.runtime, files[program], ended);
      isReady = true;
      return interpreter;
    } catch (error) {
      ended(); // the next question tries again
      throw error;
    }
  }

  function ended() {
    isReady = hasFormatter = false;
    starting = null;
  }

  /**
   * The answer to a question. Once its signal is aborted nobody waits for it: Python ends where it computes it,
   * and what is asked otherwise is computed by a new one.
   * @param {Question} question @param {*} input @param {OnWait} [onWait] @param {AbortSignal} [signal]
   */
  async function ask(question, input, onWait, signal) {
    await prepare(question, onWait);
    const answer = last.then(() => answered(question, input, onWait, signal));
    last = answer.catch(() => undefined);
    return answer;
  }

  /** @param {Question} question @param {*} input @param {OnWait} [onWait] @param {AbortSignal} [signal] */
  async function answered(question, input, onWait, signal) {
    const interpreter = await prepare(question, onWait); // it may have ended meanwhile
    const modules = question === "code" ? await formatter() : {};
    signal?.throwIfAborted();
    const leave = () => interpreter.end(signal?.reason);
    const timer = setTimeout(() => interpreter.end(new Error(LONG)), 1000 * limit_s);
    signal?.addEventListener("abort", leave);
    try {
      return await interpreter.ask(question, input, modules);
    } finally {
      signal?.removeEventListener("abort", leave);
      clearTimeout(timer);
    }
  }

  /** The modules that lay out code, if they are not loaded yet. */
  async function formatter() {
    if (hasFormatter) return {};
    const modules = await had(files.formatter).catch(() => Promise.reject(lacking(GONE, "code")));
    hasFormatter = true;
    return modules;
  }

  return { prepare, ask };
}

/** @param {string} why there is no Python @param {Question} question */
function lacking(why, question) {
  return new Error(`Python ${why}, and nothing else here ${TASKS[question]}: the app does`);
}

/**
 * The reader of formulas, as in the app.
 * @param {Python} python
 * @returns {Read}
 */
export function createReader({ ask, prepare }) {
  /** @param {"op"|"rule"} kind @param {string} text @param {OnWait} [onWait] */
  const read = (kind, text, onWait) =>
    ask("entry", { kind, text }, onWait).catch((error) => ({ message: error.message, column: 0 }));
  return Object.assign(read, { prepare: () => prepare("entry").catch(() => undefined) });
}

/** @param {string} address */
function had(address) {
  return loaded(address).catch(() => Promise.reject(new Error(GONE)));
}

/**
 * @param {string} runtime
 * @param {string} program
 * @param {() => void} onEnd when it has ended
 * @returns {Promise<Interpreter>}
 */
async function started(runtime, program, onEnd) {
  const [{ worker: address, files, packages }, ours] = await Promise.all([had(runtime), had(program)]);
  const worker = new Worker(address, { type: "module" });
  /** @type {(reason: Error) => void} */
  let reject = () => {};

  /** @param {*} message @returns {Promise<*>} its answer */
  const sent = (message) =>
    new Promise((resolve, refuse) => {
      reject = refuse;
      worker.onmessage = ({ data: { answer, failed } }) =>
        failed === undefined ? resolve(answer) : refuse(new Error(FAILED));
      worker.postMessage(message);
    });

  /** @param {Error} why */
  function end(why) {
    worker.terminate();
    onEnd();
    reject(why);
  }

  worker.onerror = () => end(new Error(FAILED));
  await sent({ files, packages, ...ours }).catch(() => {
    worker.terminate();
    throw new Error(UNFIT);
  });
  return { ask: (question, input, modules) => sent({ question, input, modules }), end };
}
