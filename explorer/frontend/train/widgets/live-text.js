// A sentence that changes at most once a second, so that it can be read.

import { setText } from "../../elements/dom.js";

const READ_MS = 1000;

/** Write sentences into an element. Each stays for a second while others follow. @param {HTMLElement} host */
export function createSentence(host) {
  let writtenAt = -Infinity;
  return {
    /** @param {string} text @param {boolean} moving whether another sentence will follow soon */
    show(text, moving) {
      const now = performance.now();
      if (moving && now - writtenAt < READ_MS) return;
      writtenAt = now;
      setText(host, text);
    },
  };
}
