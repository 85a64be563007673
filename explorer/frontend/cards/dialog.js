// The dialog of the button Add rule: a picker, and a button to draw a rule by hand.

import { element } from "../elements/dom.js";

/**
 * Create a dialog with a picker, and a button to draw a rule by hand.
 * @param {HTMLElement} host @param {ReturnType<typeof import("./picker.js").createPicker>} picker
 * @param {(() => void)|null} onDraw starts drawing; null for no button
 */
export function createDialog(host, picker, onDraw) {
  const close = { class: "close quiet", "aria-label": "Close", onclick: () => dialog.close() };
  const draw = { class: "draw", title: "Draw its gradient (key D)", onclick: startDrawing };
  const parts = [element("button", close, "×"), picker.element];
  const dialog = element("dialog", { class: "add-rule-dialog", "aria-label": "Rules" }, ...parts);
  if (onDraw) picker.element.firstElementChild.after(element("button", draw, "Draw a rule"));
  dialog.addEventListener("click", (/** @type {Event} */ event) => event.target === dialog && dialog.close());
  host.append(dialog);

  function startDrawing() {
    dialog.close();
    onDraw?.();
  }

  return {
    /** Open the dialog with an empty search field. */
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
