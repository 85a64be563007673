// Asks before a new task replaces the op and rules, and offers to undo the change.

import { element, setAttribute, setText } from "../../elements/dom.js";

/**
 * ``own`` and ``keep`` are the labels of the two answers, "" after the question was answered.
 * @typedef {{text: string, own: string, keep: string}} Picture
 */

/** @param {HTMLElement} host @param {{onAnswer: (keep: boolean) => void, onUndo: () => void}} on */
export function createTaskNote(host, { onAnswer, onUndo }) {
  const text = element("span", { role: "status" });
  const ownButton = element("button", { onclick: () => onAnswer(false) });
  const keepButton = element("button", { onclick: () => onAnswer(true) });
  const undo = element("button", { onclick: onUndo }, "Undo");
  host.append(text, ownButton, keepButton, undo);
  return {
    /** @param {Picture|null} picture */
    show(picture) {
      const hadFocus = host.contains(document.activeElement);
      setAttribute(host, "hidden", !picture);
      setText(text, picture?.text ?? "");
      setText(ownButton, picture?.own ?? "");
      setText(keepButton, picture?.keep ?? "");
      for (const button of [ownButton, keepButton]) setAttribute(button, "hidden", !picture?.own);
      setAttribute(undo, "hidden", !picture || picture.own !== "");
      if (hadFocus && picture && !picture.own) undo.focus();
    },
  };
}
