// Questions that follow the user's input: one at a time, and only for the latest input.

const GAP_MS = 80; // ms between requests; the server allows twenty per second
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 15_000;

/**
 * Create a function that asks Python one question for the latest input. If another attempt may succeed, it asks again
 * until there is an answer or another input.
 * @param {import("./ask.js").Ask} ask @param {string} question
 * @param {(answer: import("./ask.js").Answer, args: import("./ask.js").Arguments) => void} onAnswer called with each
 *   answer, also with a message, and its arguments
 */
export function createLatestQuestion(ask, question, onAnswer) {
  let next = /** @type {import("./ask.js").Arguments|null} */ (null);
  let busy = false;
  let ended = false;
  let failures = 0;

  /** Send questions one by one, as long as there are new arguments. */
  async function askSequentially() {
    busy = true;
    while (next && !ended) {
      const gap = wait(GAP_MS);
      const args = next;
      next = null;
      const answer = await ask(question, args);
      if (ended) return;
      onAnswer(answer, args);
      failures = answer.again ? failures + 1 : 0;
      await (failures ? wait(Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS)) : gap);
      if (failures) next ??= args;
    }
    busy = false;
  }

  return {
    /** @param {import("./ask.js").Arguments} args */
    ask(args) {
      next = args;
      if (!busy) void askSequentially();
    },
    drop() {
      next = null;
    },
    destroy() {
      ended = true;
    },
  };
}

/** @param {number} ms */
function wait(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
