// The dialog that branches a training run: what to change from the displayed step on.

import { getCatalogue, explainTrainingRefusal } from "../../choice/entries.js";
import { element, createId, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";

/** @import { Time } from "./view-model.js" */
/**
 * An option of a list: its value, its text, and the reason why it is disabled, or "".
 * @typedef {[string, string, string]} ListOption
 */

const ALL = "rule"; // branch point that changes the backward rule of all curves

/** @param {{onBranch: (name: string, value: string) => void}} on */
export function createBranchDialog({ onBranch }) {
  let time = /** @type {Time|null} */ (null);
  let listed = "";
  const kind = select("What changes", [
    ["rule", "Backward rule", ""],
    ["op", "Op", ""],
    ["lr", "Learning rate lr", ""],
  ]);
  const line = select("Of the line", []);
  const rule = select("Goes on with", []);
  const op = select("Goes on with op", []);
  const rate = element("input", {
    id: createId(),
    inputmode: "decimal",
    autocomplete: "off",
    spellcheck: "false",
  });
  const lr = wrapField("New lr", rate);
  const title = element("p", { class: "main" });
  const refused = element("p", { class: "next", role: "alert" });
  const go = element("button", { class: "primary", onclick: branch }, "Branch");
  const menu = createMenu(
    "Branch …",
    element(
      "div",
      { class: "branch" },
      title,
      kind.element,
      line.element,
      rule.element,
      op.element,
      lr,
      refused,
      go,
    ),
  );
  kind.list.addEventListener("change", offer);
  rate.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && branch());
  offer();

  function offer() {
    const selected = kind.list.value;
    [line.element, rule.element].forEach((part) => setAttribute(part, "hidden", selected !== "rule"));
    setAttribute(op.element, "hidden", selected !== "op");
    setAttribute(lr, "hidden", selected !== "lr");
    setText(refused, "");
  }

  function branch() {
    const selected = kind.list.value;
    const number = Number(rate.value);
    if (selected === "lr" && !(rate.value.trim() && Number.isFinite(number) && number > 0)) {
      setText(refused, "lr must be a number above 0.");
      return;
    }
    menu.open = false;
    menu.querySelector("summary")?.focus();
    if (selected === "lr") onBranch("lr", String(number));
    else if (selected === "op") onBranch("op", op.list.value);
    else onBranch(line.list.value, rule.list.value);
  }

  /** Fill the lists of options again if the curves of the run have changed. @param {Time} now */
  function list({ lines, spikes }) {
    const names = lines.map(({ key, label }) => /** @type {ListOption} */ ([key, label, ""]));
    const text = JSON.stringify([names, spikes]);
    if (text === listed) return;
    listed = text;
    fill(line.list, names.length > 1 ? [...names, [ALL, "All lines", ""]] : names);
    const toOption = (/** @type {Parameters<typeof explainTrainingRefusal>[0]} */ entry) =>
      /** @type {ListOption} */ ([entry.key, entry.label, explainTrainingRefusal(entry, spikes)]);
    const rules = Object.values(getCatalogue().rules).map(toOption);
    fill(rule.list, [...names, ...rules.filter(([key]) => !names.some(([other]) => other === key))]);
    fill(op.list, Object.values(getCatalogue().ops).map(toOption));
    if (names.length > 1) rule.list.value = names[1][0];
  }

  return {
    element: menu,
    /** @param {Time} now */
    show(now) {
      list(now);
      setAttribute(menu, "data-off", !now.hasRun);
      setAttribute(
        /** @type {Element} */ (menu.firstElementChild),
        "aria-disabled",
        now.hasRun ? null : "true",
      );
      setAttribute(go, "disabled", !now.hasRun || now.step >= now.most);
      setText(
        title,
        now.step >= now.most
          ? "Scrub back first: after the last step nothing is left to train."
          : `From step ${now.step} on`,
      );
      if (time?.lr !== now.lr && document.activeElement !== rate) rate.value = now.lr;
      time = now;
    },
  };
}

/** @param {string} label @param {ListOption[]} options */
function select(label, options) {
  const list = element("select", { id: createId() });
  fill(list, options);
  return { list, element: wrapField(label, list) };
}

/** @param {HTMLSelectElement} list @param {ListOption[]} options */
function fill(list, options) {
  const items = options.map(([value, text, refusal]) =>
    element("option", { value, ...(refusal && { disabled: "", title: refusal }) }, text),
  );
  list.replaceChildren(...items);
}

/** @param {string} label @param {HTMLElement} field */
function wrapField(label, field) {
  return element("div", { class: "setting" }, element("label", { for: field.id }, label), field);
}
