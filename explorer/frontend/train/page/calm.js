// The buttons at the foot of the Train page that open its settings, its evidence and its other tools.

import { setOpenTools, getOpenTools } from "../../choice/tools.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { followKey } from "../../elements/keys.js";

/** A part of the page that can be opened. @typedef {"all"|"settings"|"evidence"} Part */

/**
 * Create the buttons at the foot of the page.
 * @param {HTMLElement} root the page's element @param {HTMLElement} dock the element for the buttons
 * @param {{store: import("../../choice/store.js").Store, onOpen: (evidence: boolean) => void, onCode: () => boolean}}
 *   options ``onOpen``: called with whether the evidence is open; ``onCode``: opens or closes the code, and returns
 *   whether it is open
 */
export function createToolButtons(root, dock, { store, onOpen, onCode }) {
  const end = new AbortController();
  const makeButton = (/** @type {string} */ name, /** @type {Part} */ part, title = "") =>
    element("button", { class: `to-${part}`, onclick: () => turn(part), title }, name);
  const all = makeButton("All tools", "all", "Open and close all tools (key E)");
  const settings = makeButton("Settings", "settings");
  const evidence = makeButton("Evidence", "evidence");
  const code = element(
    "button",
    { onclick: () => setAttribute(code, "aria-expanded", String(onCode())), "aria-expanded": "false" },
    "Code",
  );
  const step = element("button", { class: "at-step", hidden: true, onclick: turnTime });
  dock.append(settings, code, all, evidence, step); // the last two appear with a run
  followKey("e", () => turn("all"), end.signal);

  const open = () => getOpenTools(store.current);

  /** @param {Part} part */
  function turn(part) {
    setOpenTools(store, togglePart(open(), part));
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
    document.documentElement.dataset.explorer = now === "all" ? "whole" : "calm";
    root.classList.toggle("with-settings", now === "settings" || now === "all");
    root.classList.toggle("with-evidence", now === "evidence" || now === "all");
    setAttribute(all, "aria-expanded", String(now === "all"));
    setAttribute(settings, "aria-expanded", String(root.matches(".with-settings")));
    setAttribute(evidence, "aria-expanded", String(root.matches(".with-evidence")));
    onOpen(root.matches(".with-evidence"));
  }

  const stop = store.subscribeNow(show);
  return {
    /** @param {number} at the displayed step @param {boolean} has whether there is a run */
    showStep(at, has) {
      setText(step, `Step ${at} …`);
      setAttribute(step, "title", "Go back, branch or save");
      setAttribute(step, "hidden", !has);
    },
    destroy() {
      end.abort();
      stop();
    },
  };
}

/**
 * Return which parts of the page are open after a button is pressed. Settings and evidence together are "all".
 * @param {string} now the open part, "all", or "" for none @param {Part} part the part that the button opens or closes
 */
export function togglePart(now, part) {
  const other = part === "settings" ? "evidence" : "settings";
  if (part === "all") return now === "all" ? "" : "all";
  if (now === "all") return other;
  if (now === part) return "";
  return now === other ? "all" : part;
}
