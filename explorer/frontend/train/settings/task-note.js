// Asks before a new task replaces the op and rules, and offers to undo the change.

import { h, render } from "../../elements/render.js";

/**
 * ``own`` and ``keep`` are the labels of the two answers, "" after the question was answered.
 * @typedef {{text: string, own: string, keep: string}} Picture
 */

/** @param {HTMLElement} host @param {{onAnswer: (keep: boolean) => void, onUndo: () => void}} on */
export function createTaskNote(host, { onAnswer, onUndo }) {
  return {
    /** @param {Picture|null} picture */
    show(picture) {
      const hadFocus = host.contains(document.activeElement);
      host.hidden = !picture;
      const isAsking = picture && picture.own !== "";
      render(
        host,
        h("span", { role: "status" }, picture?.text),
        isAsking && h("button", { onclick: () => onAnswer(false) }, picture.own),
        isAsking && h("button", { onclick: () => onAnswer(true) }, picture.keep),
        picture && !isAsking && h("button", { onclick: onUndo }, "Undo"),
      );
      if (hadFocus && picture && !isAsking) host.querySelector("button")?.focus();
    },
  };
}
