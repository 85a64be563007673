// Sentences that are not among the site's files: computed on request, and from then on at every rest.

import { curvesKey, entriesOf, lossOf } from "../../choice/choice.js";
import { normalData } from "../../choice/data.js";
import { catalogue, find } from "../../choice/entries.js";
import { firstDrawn } from "../../formula/draws.js";
import { filled } from "../../formula/phrases.js";
import { pullWords } from "../../measures/learning-words.js";
import { pullOf } from "../../measures/pull.js";
import { sampling } from "../../formula/sampling.js";
import { NO_WORDS, NOT_YET } from "./words.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Words } from "./words.js" */
/** @typedef {(choice: Choice, onWait: (words: string) => void) => Promise<Words>} Tell rejected with words for the page */

let wished = false; // while the page is open
let last = { key: "", words: NO_WORDS };

/** The last sentences if they are of this choice, else none. @param {Choice} choice @returns {Words} */
export function sentencesOf(choice) {
  return last.key === curvesKey(choice) ? last.words : NO_WORDS;
}

/**
 * The teller of one choice after another; choices passed by meanwhile are left out.
 * @param {{tell: Tell, words: ReturnType<typeof import("./words.js").createWords>,
 *   onSentences: (words: Words, choice: Choice) => void}} options
 */
export function createTelling({ tell, words, onSentences }) {
  let next = /** @type {Choice|null} */ (null);
  let busy = false;

  /** @param {Choice} choice */
  async function ask(choice) {
    next = choice;
    if (busy) return;
    busy = true;
    while (next) {
      const asked = next;
      next = null;
      const sentences = await sentencesFor(asked);
      if (!next) onSentences(sentences, asked);
    }
    busy = false;
  }

  /** @param {Choice} choice */
  async function sentencesFor(choice) {
    try {
      const wait = (/** @type {string} */ text) =>
        onSentences({ ...NO_WORDS, main: text || NOT_YET }, choice);
      last = { key: curvesKey(choice), words: await tell(choice, wait) };
      return last.words;
    } catch (error) {
      return { ...NO_WORDS, main: /** @type {Error} */ (error).message };
    }
  }

  /** Compute the sentences of a choice at rest, or offer to. @param {Choice} choice */
  function offer(choice) {
    const begin = () => {
      wished = true;
      words.offer(null);
      words.show(null);
      ask(choice);
    };
    if (wished) begin();
    else words.offer(begin);
  }

  return { offer };
}

/** The arguments with which explorer/site/words.py is asked. @param {Choice} choice */
export function questionOf(choice) {
  const { op, rules, parameters, g, range, learns } = choice;
  const [start, stop] = range;
  const drawing = {
    ...entriesOf(choice),
    torchs: find("rule", "default"),
    loss: lossOf(choice),
    sampling: sampling(),
  };
  const learning = learns && learningWords(choice);
  return { op, rules: rules.map(({ key }) => key), parameters, g, start, stop, learns, learning, drawing };
}

/** The sentence on the parameter that learns, as Python's ``learning_words``: "" where something is drawn. @param {Choice} choice */
function learningWords(choice) {
  const { op, rules } = entriesOf(choice);
  if (firstDrawn([op, ...rules])) return "";
  const { words, ...resting } = catalogue().learning;
  const data = normalData();
  const verdicts = rules.map((rule) => {
    const pull = pullOf(op, rule, choice.learns, data, choice.parameters, resting);
    return pullWords(words, pull, rule.label, choice.learns);
  });
  return `${filled(words.lead, { data: data.label })} ${verdicts.join("; ")}.`;
}
