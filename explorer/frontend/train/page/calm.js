// The calm page of trainings: net, lanes and one chart; settings, evidence and all other tools are one press away.

import { setOpenTools, getOpenTools } from "../../choice/tools.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { followKey } from "../../elements/keys.js";

/** @typedef {"all"|"settings"|"evidence"} Part */

/**
 * Have buttons at the foot open and close the parts of the page.
 * @param {HTMLElement} root of the page
 * @param {HTMLElement} dock
 * @param {{store: import("../../choice/store.js").Store, calm: boolean, onOpen: (evidence: boolean) => void,
 *   onCode: () => boolean}} options ``calm``: whether the parts wait to be called; ``onCode`` opens or closes the code,
 *   and tells which
 */
export function createCalm(root, dock, { store, calm, onOpen, onCode }) {
  const end = new AbortController();
  const button = (/** @type {string} */ name, /** @type {Part} */ part, title = "") =>
    element("button", { onclick: () => turn(part), title }, name);
  const all = button("All tools", "all", "Open and close all tools (key E)");
  const settings = button("Settings", "settings");
  const evidence = button("Evidence", "evidence");
  const code = element("button", { onclick: turnCode, "aria-expanded": "false" }, "Code");
  const step = element("button", { class: "at-step", hidden: true, onclick: turnTime });
  if (calm) dock.append(settings, evidence, code, all, step);
  if (calm) followKey("e", () => turn("all"), end.signal);
  dock.hidden = !calm;

  /** The open part; on a page that is not calm, all of them. @returns {string} */
  const open = () => (calm ? getOpenTools(store.current) : "all");

  /** @param {Part} part */
  function turn(part) {
    setOpenTools(store, turned(open(), part));
  }

  function turnCode() {
    setAttribute(code, "aria-expanded", String(onCode()));
  }

  function turnTime() {
    root.classList.toggle("with-time");
    setAttribute(step, "aria-expanded", String(root.matches(".with-time")));
  }

  let last = "none";
  function show() {
    const now = open();
    if (now === last) return;
    last = now;
    root.classList.toggle("calm", now !== "all");
    root.classList.toggle("whole", now === "all");
    root.classList.toggle("with-settings", now === "settings" || now === "all");
    root.classList.toggle("with-evidence", now === "evidence" || now === "all");
    setAttribute(all, "aria-expanded", String(now === "all"));
    setAttribute(settings, "aria-expanded", String(root.matches(".with-settings")));
    setAttribute(evidence, "aria-expanded", String(root.matches(".with-evidence")));
    onOpen(root.matches(".with-evidence"));
  }

  const stop = store.subscribeNow(show);
  return {
    /** @param {number} at the step on display @param {boolean} has whether there is a run */
    showStep(at, has) {
      setText(step, `Step ${at}`);
      setAttribute(step, "aria-label", `Step ${at}: go back, branch, take away`);
      setAttribute(step, "hidden", !has);
    },
    destroy() {
      end.abort();
      stop();
    },
  };
}

/** The part that is open once another is pressed: two of them are all. @param {string} now @param {Part} part */
export function turned(now, part) {
  const other = part === "settings" ? "evidence" : "settings";
  if (part === "all") return now === "all" ? "" : "all";
  if (now === "all") return other;
  if (now === part) return "";
  return now === other ? "all" : part;
}
