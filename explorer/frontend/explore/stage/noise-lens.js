// The op under noise while the layer "lens" is on: Python is asked at each change, and an answer stays until the next.

import { keyOf } from "../../asking/ask.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { keepRules } from "../../asking/some-rules.js";
import { heldParameters } from "../../choice/address.js";
import { array } from "../../choice/arrays.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Lens } from "../../chart/scene/picture.js" */

/** @param {import("../../asking/ask.js").Ask} ask @param {() => void} onChange */
export function createNoiseLens(ask, onChange) {
  let now = /** @type {Lens|null} */ (null);
  let last = "";
  const question = createLatestQuestion(ask, "lens", ({ x, gradient, words, message }) => {
    const curve = () => ({ x: Float64Array.from(array(x)), y: Float64Array.from(array(gradient)) });
    now = message === undefined ? { curve: curve(), words } : { words: message };
    onChange();
  });
  return {
    /** The last answer, null without the layer; other arguments are asked for. @param {Choice} choice */
    find(choice) {
      if (choice.layer !== "lens") return null;
      const args = lensArguments(choice);
      const key = keyOf("lens", args);
      if (key !== last) question.ask(args);
      last = key;
      return now;
    },
    destroy: question.destroy,
  };
}

/** The arguments of the question about a choice. @param {Choice} choice */
export function lensArguments(choice) {
  const isSeen = choice.rules.some(({ hidden }) => !hidden);
  const shown = keepRules(choice, ({ slot, hidden }) => (isSeen ? !hidden : slot === choice.rules[0].slot));
  const { op, rules, range, g, noise, noise_width: width } = shown;
  const [start, stop] = range;
  const keys = rules.map(({ key }) => key);
  return { op, rules: keys, parameters: heldParameters(shown), noise, width, start, stop, g };
}
