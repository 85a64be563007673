// The form of training settings. Those that can change during a run are in a place of their own.

import { element, createId, setText } from "../../elements/dom.js";
import { createFileButton } from "../../elements/file-button.js";
import { createFields, watchInvalid } from "./fields.js";
import { getSettings, getSetting } from "../state/tasks.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Create the form of training settings.
 * @param {{live: HTMLElement, rest: HTMLElement, own: Object<string, HTMLElement>}} hosts ``live``: the place for
 *   settings that can change during a run; ``own``: places for single settings, by name; ``rest``: the place for all
 *   others
 * @param {ReturnType<typeof import("../../choice/store.js").createStore>} store
 * @param {(name: string, text: string, phase: string) => void} onSetting called with a setting's name and new text
 * @param {{compareDevices: () => Promise<string>, onOpen: (text: string) => Promise<string>, onWrong: (name: string) =>
 *   void}} on ``compareDevices`` resolves to a sentence on which device is faster, or ""; ``onOpen`` opens exported
 *   settings, and resolves to a message; ``onWrong``: called with the name of a field with invalid text, or ""
 */
export function createSettings({ live, rest, own }, store, onSetting, { compareDevices, onOpen, onWrong }) {
  const grid = element("div", { class: "settings" });
  const summary = element("summary", {}, "Settings");
  const opened = element("p", { class: "text-small", role: "status" });
  const onFile = async (/** @type {File} */ file) => setText(opened, await onOpen(await file.text()));
  const file = createFileButton("Load from a file", { accept: ".json,application/json", onFile });
  rest.append(element("details", { open: true }, summary, grid, file, opened));
  const fields = createFields(getSettings(), store, onSetting);
  for (const { name, live: isLive, field } of fields) {
    (own[name] ?? (isLive ? live : grid)).append(field.element);
    if (name === "device") describe(field.element, compareDevices);
  }
  watchInvalid([live, rest], onWrong);
  return {
    /** @param {Choice} choice */
    show(choice) {
      for (const { name, field } of fields) field.show(getSetting(choice, name));
    },
  };
}

/**
 * Add a description below a control.
 * @param {HTMLElement} field @param {() => Promise<string>} ask resolves to the description, or "" for none
 */
async function describe(field, ask) {
  const words = await ask();
  if (!words) return;
  const remark = element("small", { id: createId() }, words);
  field.classList.add("wide");
  field.append(remark);
  field.querySelector("select")?.setAttribute("aria-describedby", remark.id);
}
