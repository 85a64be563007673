// The window in which a branch is chosen: what is to change from the step that is looked at.

import { getCatalogue, explainTrainingRefusal } from "../../choice/entries.js";
import { element, freshId, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";

/** @import { Time } from "./view-model.js" */
/** An option: its value, its text, and why it cannot be chosen, "" where it can. @typedef {[string, string, string]} Listed */

const ALL = "rule"; // the name of a change of all lines

/** @param {{onBranch: (name: string, value: string) => void}} on */
export function createBranching({ onBranch }) {
  let time = /** @type {Time|null} */ (null);
  let listed = "";
  const what = select("What changes", [
    ["rule", "Backward rule", ""],
    ["op", "Op", ""],
    ["lr", "Learning rate lr", ""],
  ]);
  const line = select("Of the line", []);
  const rule = select("Goes on with", []);
  const op = select("Goes on with op", []);
  const rate = element("input", {
    id: freshId(),
    inputmode: "decimal",
    autocomplete: "off",
    spellcheck: "false",
  });
  const lr = labelled("New lr", rate);
  const title = element("p", { class: "main" });
  const refused = element("p", { class: "next", role: "alert" });
  const go = element("button", { class: "primary", onclick: branch }, "Branch");
  const menu = createMenu(
    "Branch …",
    element(
      "div",
      { class: "branch" },
      title,
      what.element,
      line.element,
      rule.element,
      op.element,
      lr,
      refused,
      go,
    ),
  );
  what.list.addEventListener("change", offer);
  rate.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && branch());
  offer();

  function offer() {
    const chosen = what.list.value;
    [line.element, rule.element].forEach((part) => setAttribute(part, "hidden", chosen !== "rule"));
    setAttribute(op.element, "hidden", chosen !== "op");
    setAttribute(lr, "hidden", chosen !== "lr");
    setText(refused, "");
  }

  function branch() {
    const chosen = what.list.value;
    const number = Number(rate.value);
    if (chosen === "lr" && !(rate.value.trim() && Number.isFinite(number) && number > 0)) {
      setText(refused, "lr must be a number above 0.");
      return;
    }
    menu.open = false;
    menu.querySelector("summary")?.focus();
    if (chosen === "lr") onBranch("lr", String(number));
    else if (chosen === "op") onBranch("op", op.list.value);
    else onBranch(line.list.value, rule.list.value);
  }

  /** The lists follow the lines that there are. @param {Time} now */
  function list({ lines, spikes }) {
    const names = lines.map(({ key, label }) => /** @type {Listed} */ ([key, label, ""]));
    const text = JSON.stringify([names, spikes]);
    if (text === listed) return;
    listed = text;
    fill(line.list, names.length > 1 ? [...names, [ALL, "All lines", ""]] : names);
    const listedOf = (/** @type {Parameters<typeof explainTrainingRefusal>[0]} */ entry) =>
      /** @type {Listed} */ ([entry.key, entry.label, explainTrainingRefusal(entry, spikes)]);
    const known = Object.values(getCatalogue().rules).map(listedOf);
    fill(rule.list, [...names, ...known.filter(([key]) => !names.some(([other]) => other === key))]);
    fill(op.list, Object.values(getCatalogue().ops).map(listedOf));
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

/** @param {string} label @param {Listed[]} options */
function select(label, options) {
  const list = element("select", { id: freshId() });
  fill(list, options);
  return { list, element: labelled(label, list) };
}

/** @param {HTMLSelectElement} list @param {Listed[]} options */
function fill(list, options) {
  const made = options.map(([value, text, refusal]) =>
    element("option", { value, ...(refusal && { disabled: "", title: refusal }) }, text),
  );
  list.replaceChildren(...made);
}

/** @param {string} label @param {HTMLElement} field */
function labelled(label, field) {
  return element("div", { class: "setting" }, element("label", { for: field.id }, label), field);
}
