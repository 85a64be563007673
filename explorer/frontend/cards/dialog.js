// The dialog of the button Add rule: a picker, and a button to draw a rule by hand.

import { element } from "../elements/dom.js";

/**
 * Create a dialog with a picker, and a button to draw a rule by hand.
 * @param {HTMLElement} host @param {string} title @param {ReturnType<typeof import("./picker.js").createPicker>} picker
 * @param {(() => void)|null} onDraw starts drawing; null for no button
 */
export function createDialog(host, title, picker, onDraw) {
  const close = element(
    "button",
    { class: "close quiet", "aria-label": "Close", onclick: () => dialog.close() },
    "×",
  );
  const dialog = element("dialog", { class: "add-rule-dialog", "aria-label": title }, close, picker.element);
  const draw = element(
    "button",
    { class: "draw", onclick: startDrawing, title: "Draw its gradient (key D)" },
    "Draw a rule",
  );
  if (onDraw) picker.element.firstElementChild.after(draw);
  dialog.addEventListener("click", (/** @type {Event} */ event) => event.target === dialog && dialog.close());
  host.append(dialog);

  function startDrawing() {
    dialog.close();
    onDraw?.();
  }

  return {
    open() {
      picker.input.value = "";
      dialog.showModal();
      picker.open();
      picker.input.focus();
    },
    close: () => dialog.close(),
    destroy() {
      picker.destroy();
      dialog.remove();
    },
  };
}
