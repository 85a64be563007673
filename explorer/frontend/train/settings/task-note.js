// The question whether a new task replaces op and rules, and the offer to undo the change.

import { h, render } from "../../elements/render.js";

/**
 * The question, with the labels of its two answers. They are "" once it is answered.
 * @typedef {{text: string, own: string, keep: string}} Picture
 */

/**
 * Create the question.
 * @param {HTMLElement} host
 * @param {{onAnswer: (keep: boolean) => void, onUndo: () => void}} on ``onAnswer``: called with whether to keep op and
 *   rules
 */
export function createTaskNote(host, { onAnswer, onUndo }) {
  return {
    /** @param {Picture|null} picture null hides the question */
    show(picture) {
      const hadFocus = host.contains(document.activeElement);
      host.hidden = !picture;
      const isAsking = picture && picture.keep !== "";
      render(
        host,
        h("span", { role: "status" }, picture?.text),
        picture?.own && h("button", { onclick: () => onAnswer(false) }, picture.own),
        isAsking && h("button", { onclick: () => onAnswer(true) }, picture.keep),
        picture && !isAsking && h("button", { onclick: onUndo }, "Undo"),
      );
      if (hadFocus && picture && !isAsking) host.querySelector("button")?.focus();
    },
  };
}
