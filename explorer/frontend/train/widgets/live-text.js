// A sentence that changes while it is read, at most once a second.

import { setText } from "../../elements/dom.js";

const READ_MS = 1000;

/** @param {HTMLElement} host */
export function createSentence(host) {
  let writtenAt = -Infinity;
  return {
    /** @param {string} text @param {boolean} moving whether another text will follow soon */
    show(text, moving) {
      const now = performance.now();
      if (moving && now - writtenAt < READ_MS) return;
      writtenAt = now;
      setText(host, text);
    },
  };
}
