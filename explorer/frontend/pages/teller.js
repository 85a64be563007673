// The sentences above the chart where there is no server: Python in a worker tells those that did not come along.

/** @typedef {import("../choice/choice.js").Choice} Choice */

/**
 * What has Python tell of a choice; what could not be told is rejected with words for the page.
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

/** What Python is given. @param {Choice} choice */
export function questionOf({ op, rules, parameters, g, range: [start, stop], learns }) {
  return { op, rules: rules.map(({ key }) => key), parameters, g, start, stop, learns };
}
