// Sentences that are not among the site's files: computed on request, and from then on at every rest.

import { curvesKey } from "../../choice/choice.js";
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
      const wait = (/** @type {string} */ text) => onSentences({ main: text || NOT_YET, rest: "" }, choice);
      last = { key: curvesKey(choice), words: await tell(choice, wait) };
      return last.words;
    } catch (error) {
      return { main: /** @type {Error} */ (error).message, rest: "" };
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
