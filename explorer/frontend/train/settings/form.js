// The settings of a run as native controls: those that may change in mid-run apart from the rest.

import { element } from "../../elements/dom.js";
import { createFields } from "./fields.js";
import { settings, settingText } from "../state/tasks.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * @param {{live: HTMLElement, rest: HTMLElement, own: Object<string, HTMLElement>}} hosts ``own`` has those
 * of single settings by their name
 * @param {ReturnType<typeof import("../../choice/store.js").createStore>} store
 * @param {(name: string, text: string, phase: string) => void} onSetting
 */
export function createSettings({ live, rest, own }, store, onSetting) {
  const grid = element("div", { class: "settings" });
  const summary = element("summary", {}, "Settings");
  rest.append(element("details", { open: true }, summary, grid));
  const fields = createFields(settings(), store, onSetting);
  for (const { name, live: isLive, field } of fields)
    (own[name] ?? (isLive ? live : grid)).append(field.element);
  return {
    /** @param {Choice} choice */
    show(choice) {
      for (const { name, field } of fields) field.show(settingText(choice, name));
    },
  };
}
