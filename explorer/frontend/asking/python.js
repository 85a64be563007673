// Python in a worker, without a server: questions on own formulas, pasted code and words on curves.

import { loaded } from "./files.js";

/** @typedef {string} Question what explorer/site/program.py answers */
/** @typedef {{runtime: string, program: string, formatter: string}} Files addresses of what comes along */
/** @typedef {(words: string) => void} OnWait gets the reason of a wait, and "" at its end */
/**
 * @typedef {{ask: (question: Question, input: *, modules: Record<string, string>) => Promise<*>,
 *   end: (why: Error) => void}} Interpreter ``end`` rejects the present question, and ends the worker
 * @typedef {ReturnType<typeof createPython>} Python
 */

/** Python's work for each question, in words. */
const TASKS = /** @type {Record<string, string>} */ ({
  entry: "reads formulas",
  formulas: "reads formulas",
  code: "reads formulas",
  read: "reads code",
  judge: "reads code",
  words: "puts this into words",
});
const LAYOUT = "Loading black, the code formatter: the first text takes some seconds …";
const GONE = "could not be loaded";
const UNFIT = "does not start in this browser";
const FAILED = "Python failed at this in the browser: the app can do it";
const LIMIT_S = 120; // see LONG
const LONG = "This took longer than two minutes in the browser and was stopped: the app needs seconds";

/**
 * Python, which is loaded when that is prepared or something is asked for the first time, and answers one question
 * after the other. What is asked is rejected with words for the page.
 * @param {Files} files
 * @param {{limit_s?: number}} [options] ``limit_s`` is the longest that a question may take
 */
export function createPython(files, { limit_s = LIMIT_S } = {}) {
  let isReady = false;
  let hasFormatter = false;
  /** @type {Promise<Interpreter>|null} */
  let starting = null;
  /** @type {Promise<*>} */
  let last = Promise.resolve(); // settles once the last question is answered

  /** @param {string} question that is to come @param {OnWait} [onWait] @returns {Promise<Interpreter>} */
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
      const interpreter = await started(files.runtime, files.program, ended);
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

  /** The answer to a question. @param {Question} question @param {*} input @param {OnWait} [onWait] */
  async function ask(question, input, onWait) {
    await prepare(question, onWait);
    if (question === "code" && !hasFormatter) onWait?.(LAYOUT);
    const answer = last.then(() => answered(question, input, onWait));
    last = answer.catch(() => undefined);
    return answer;
  }

  /** @param {Question} question @param {*} input @param {OnWait} [onWait] */
  async function answered(question, input, onWait) {
    const interpreter = await prepare(question, onWait); // it may have ended meanwhile
    const isFirst = question === "code" && !hasFormatter;
    const modules = isFirst ? await formatter() : {};
    const timer = setTimeout(() => interpreter.end(new Error(LONG)), 1000 * limit_s);
    try {
      const answer = await interpreter.ask(question, input, modules);
      hasFormatter ||= isFirst;
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The modules that lay out code. */
  function formatter() {
    return had(files.formatter).catch(() => Promise.reject(lacking(GONE, "code")));
  }

  return { prepare, ask };
}

/** @param {string} why there is no Python @param {Question} question */
function lacking(why, question) {
  return new Error(`Python ${why}, and nothing else here ${TASKS[question]}: the app does`);
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
