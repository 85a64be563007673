// The sentences above the chart without a server: Python in a worker computes those not among the site's files.

/** @import { Choice } from "../choice/choice.js" */

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

/** The arguments of a question to Python. @param {Choice} choice */
export function questionOf({ op, rules, parameters, g, range: [start, stop], learns }) {
  return { op, rules: rules.map(({ key }) => key), parameters, g, start, stop, learns };
}
