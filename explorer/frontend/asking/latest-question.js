// A question that follows a hand: one request at a time, and of the arguments that come meanwhile only the last ones.

const GAP_MS = 80; // between two requests: the server takes twenty a second of one visitor
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;

/**
 * ``onAnswer`` gets each answer with the arguments it belongs to. A busy server is asked again until there is an
 * answer or there are other arguments.
 * @param {import("./ask.js").Ask} ask
 * @param {string} question
 * @param {(answer: import("./ask.js").Answer, args: import("./ask.js").Arguments) => void} onAnswer
 */
export function createLatestQuestion(ask, question, onAnswer) {
  let next = /** @type {import("./ask.js").Arguments|null} */ (null);
  let busy = false;
  let ended = false;
  let failures = 0;

  async function askInTurn() {
    busy = true;
    while (next && !ended) {
      const gap = wait(GAP_MS);
      const args = next;
      next = null;
      const answer = await ask(question, args);
      if (ended) return;
      onAnswer(answer, args);
      failures = answer.again ? failures + 1 : 0;
      await (failures ? wait(Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS)) : gap);
      if (failures) next ??= args;
    }
    busy = false;
  }

  return {
    /** @param {import("./ask.js").Arguments} args */
    ask(args) {
      next = args;
      if (!busy) void askInTurn();
    },
    /** Forget arguments that wait. */
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
