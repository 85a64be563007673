// A sentence that is read while what it says changes: no oftener than the eye follows.

import { setText } from "../../elements/dom.js";

const READ_MS = 1000;

/** @param {HTMLElement} host */
export function createSentence(host) {
  let written = -Infinity;
  return {
    /** @param {string} text @param {boolean} moving whether another one is soon to come */
    show(text, moving) {
      const now = performance.now();
      if (moving && now - written < READ_MS) return;
      written = now;
      setText(host, text);
    },
  };
}
