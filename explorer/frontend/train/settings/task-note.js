// A task that takes away op and rules asks before; and what it did can be undone in the same place.

import { element, setAttribute, setText } from "../../elements/dom.js";

/**
 * ``own`` and ``keep`` are the answers to a question, "" where it was answered.
 * @typedef {{text: string, own: string, keep: string}} Picture
 */

/**
 * @param {HTMLElement} host
 * @param {{onAnswer: (keep: boolean) => void, onUndo: () => void}} on
 */
export function createTaskNote(host, { onAnswer, onUndo }) {
  const text = element("span", { role: "status" });
  const own = element("button", { onclick: () => onAnswer(false) });
  const keep = element("button", { onclick: () => onAnswer(true) });
  const undo = element("button", { onclick: onUndo }, "Undo");
  host.append(text, own, keep, undo);
  return {
    /** @param {Picture|null} picture */
    show(picture) {
      const hadFocus = host.contains(document.activeElement);
      setAttribute(host, "hidden", !picture);
      setText(text, picture?.text ?? "");
      setText(own, picture?.own ?? "");
      setText(keep, picture?.keep ?? "");
      for (const button of [own, keep]) setAttribute(button, "hidden", !picture?.own);
      setAttribute(undo, "hidden", !picture || picture.own !== "");
      if (hadFocus && picture && !picture.own) undo.focus();
    },
  };
}
