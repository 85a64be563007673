// The sentences above the chart without a server: Python in a worker computes those not among the site's files.

import { questionOf } from "../explore/stage/telling.js";

/**
 * The function that asks Python for a choice's sentences; rejected with words for the page if there are none.
 * @param {import("./python.js").Python} python
 * @returns {import("../explore/stage/telling.js").Tell}
 */
export function createTeller({ ask }) {
  return async (choice, onWait) => {
    const answer = await ask("words", questionOf(choice), onWait);
    if ("message" in answer) throw new Error(answer.message);
    return answer;
  };
}
