// Python in a web worker: it answers questions about formulas, pasted code and descriptions of curves.

import { loadFile } from "./files.js";

/** The name of a question that explorer/site/program.py answers. @typedef {string} Question */
/**
 * The addresses of bundled files: Pyodide, our program, and the code formatter.
 * @typedef {{runtime: string, program: string, formatter: string}} Files
 */
/** A function that is called with the reason for a wait, then with "". @typedef {(words: string) => void} OnWait */
/**
 * A running web worker. ``end`` terminates it and rejects the current question.
 * @typedef {{ask: (question: Question, input: *, modules: Record<string, string>) => Promise<*>, end: (why: Error) =>
 *   void}} Interpreter
 * @typedef {ReturnType<typeof createPython>} Python the interpreter that the page uses, started on demand
 */

/** The purpose of Python for each question, as the end of a sentence. */
const TASKS = /** @type {Record<string, string>} */ ({
  entry: "reads formulas",
  formulas: "reads formulas",
  code: "reads formulas",
  read: "reads code",
  judge: "reads code",
  words: "describes the curves",
});
const FORMATTER_TEXT = "Loading black, the code formatter. The first time takes some seconds …";
const NOT_LOADED = "could not be loaded";
const UNSUPPORTED = "does not start in this browser";
const FAILED = "Python in the browser failed here: use the app instead";
const LIMIT_S = 120; // keep in step with TIMEOUT_TEXT
const TIMEOUT_TEXT = "Python in the browser was stopped after two minutes: use the app, which needs seconds";

/**
 * Create a Python interpreter in a web worker. It loads on first use, answers one question at a time, and rejects with
 * a message for the user.
 * @param {Files} files @param {{limit_s?: number}} [options] ``limit_s``: maximum time for an answer, in seconds
 */
export function createPython(files, { limit_s = LIMIT_S } = {}) {
  let isReady = false;
  let hasFormatter = false;
  /** @type {Promise<Interpreter>|null} */
  let starting = null;
  /** @type {Promise<*>} */
  let last = Promise.resolve(); // settled once every question so far is answered

  /** @param {string} question @param {OnWait} [onWait] @returns {Promise<Interpreter>} */
  async function prepare(question, onWait) {
    const wait = isReady ? undefined : onWait;
    wait?.(`Loading Python, which ${TASKS[question]} …`);
    starting ??= start();
    const interpreter = await starting.catch(({ message }) => Promise.reject(makeError(message, question)));
    wait?.("");
    return interpreter;
  }

  async function start() {
    try {
      const interpreter = await startWorker(files.runtime, files.program, reset);
      isReady = true;
      return interpreter;
    } catch (error) {
      reset(); // the next request starts Python again
      throw error;
    }
  }

  /** Reset after the interpreter has ended, so that the next question starts another one. */
  function reset() {
    isReady = hasFormatter = false;
    starting = null;
  }

  /**
   * Resolve to Python's answer to a question, after all earlier ones are answered.
   * @param {Question} question @param {*} input @param {OnWait} [onWait]
   */
  async function ask(question, input, onWait) {
    await prepare(question, onWait);
    if (question === "code" && !hasFormatter) onWait?.(FORMATTER_TEXT);
    const answer = last.then(() => askInterpreter(question, input, onWait));
    last = answer.catch(() => undefined);
    return answer;
  }

  /**
   * Send a question to the interpreter, and end the interpreter after the time limit. Resolves to the answer.
   * @param {Question} question @param {*} input @param {OnWait} [onWait]
   */
  async function askInterpreter(question, input, onWait) {
    const interpreter = await prepare(question, onWait); // starts another if an earlier interpreter has ended
    const isFirst = question === "code" && !hasFormatter;
    const modules = isFirst ? await loadFormatter() : {};
    const timer = setTimeout(() => interpreter.end(new Error(TIMEOUT_TEXT)), 1000 * limit_s);
    try {
      const answer = await interpreter.ask(question, input, modules);
      hasFormatter ||= isFirst;
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  function loadFormatter() {
    return loadOrThrow(files.formatter).catch(() => Promise.reject(makeError(NOT_LOADED, "code")));
  }

  return { prepare, ask };
}

/** @param {string} why the end of a sentence about Python @param {Question} question */
function makeError(why, question) {
  return new Error(`Python ${why}. It ${TASKS[question]} on this page: use the app instead`);
}

/** Load a file. Resolves to its data, or rejects with a message for the user. @param {string} address */
function loadOrThrow(address) {
  return loadFile(address).catch(() => Promise.reject(new Error(NOT_LOADED)));
}

/**
 * @param {string} runtime address of Pyodide @param {string} program address of our Python program
 * @param {() => void} onEnd called when the interpreter ends @returns {Promise<Interpreter>}
 */
async function startWorker(runtime, program, onEnd) {
  const [{ worker: address, files, packages }, programFiles] = await Promise.all([
    loadOrThrow(runtime),
    loadOrThrow(program),
  ]);
  const worker = new Worker(address, { type: "module" });
  /** @type {(reason: Error) => void} */
  let reject = () => {};

  /** @param {*} message @returns {Promise<*>} */
  const sendMessage = (message) =>
    new Promise((resolve, refuse) => {
      reject = refuse;
      worker.onmessage = ({ data: { answer, failed } }) =>
        failed === undefined ? resolve(answer) : refuse(new Error(FAILED));
      worker.postMessage(message);
    });

  /** @param {Error} why the error with which to reject */
  function end(why) {
    worker.terminate();
    onEnd();
    reject(why);
  }

  worker.onerror = () => end(new Error(FAILED));
  await sendMessage({ files, packages, ...programFiles }).catch(() => {
    worker.terminate();
    throw new Error(UNSUPPORTED);
  });
  return { ask: (question, input, modules) => sendMessage({ question, input, modules }), end };
}
