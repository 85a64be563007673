// The common part of the pages without a server: data, heading, and the means of an instrument.

import { createConfirmation } from "../asking/confirm.js";
import { setDocument } from "../choice/entries.js";
import { saveInSession, loadFromSession } from "../choice/session.js";
import { element } from "../elements/dom.js";
import { showNotices } from "../elements/notices.js";
import { createButtons } from "./heading.js";
import { createPython } from "../asking/python.js";
import { createSiteAsk } from "../asking/ask-site.js";

const EXPLANATION =
  "The browser draws every curve. Torch's values came along with this page for each op with each rule at the " +
  "defaults of their parameters, of g and of the range, unless one draws at random, for the examples and for the " +
  "lessons: there the curves are torch's. Elsewhere the browser has computed them by the same formulas; in the app " +
  "torch confirms them all.";
const ELSEWHERE = "The sentences came along for the defaults and the examples. Elsewhere, the app says them.";
const CHOICE = "site-choice";

/** The data that Python wrote into the page. */
export const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
setDocument(start.document);

const lessons = (start.course?.lessons ?? []).map((/** @type {{key: string}} */ { key }) => key);
export const ask = createSiteAsk(start.python && createPython(start.python), {
  lessons,
  unknown: start.unknown,
});

/** The means of every instrument of a site. */
export const siteReach = {
  plotly: /** @type {string} */ (start.plotly),
  ask,
  confirm: /** @type {import("../asking/confirm.js").Confirm} */ ((on) => createConfirmation({ ask, ...on })),
  explanation: EXPLANATION,
  elsewhere: ELSEWHERE,
  sections: {},
  examples: [],
};

/** Fill the heading; a frame on another page has none. */
export function arrange() {
  const heading = /** @type {HTMLElement} */ (document.querySelector("header"));
  const embed = new URLSearchParams(location.search).getAll("embed").at(-1);
  if (embed?.toLowerCase() === "true") return heading.remove();
  createButtons(/** @type {HTMLElement} */ (heading.querySelector(".copy")));
  return undefined;
}

/**
 * Have the links to the other pages that a choice makes sense on carry it; what is between them keeps it.
 * @param {string} query
 */
export function carryOn(query) {
  saveInSession(CHOICE, query);
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (
    document.querySelectorAll("nav a[data-carries]")
  );
  for (const link of links) link.search = query;
}

/** The choice of the page that was left, for one that has none of its own. */
export function carried() {
  return loadFromSession(CHOICE) ?? "";
}

/** Say what of a link could not be had. @param {string[]} notices */
export function tell(notices) {
  showNotices(
    document.body,
    notices.map((text) => ({ text })),
  );
}

/** Say above the page why it is not there yet; returns what takes that away. @param {string} words */
export function tellWaiting(words) {
  const box = element("section", { class: "notices", role: "status" }, element("p", {}, words));
  document.querySelector("main")?.prepend(box);
  return () => box.remove();
}
