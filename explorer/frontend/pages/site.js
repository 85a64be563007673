// The common part of the pages without a server: data, heading, and the means of an instrument.

import { createBrought } from "../choice/brought.js";
import { setDocument } from "../choice/entries.js";
import { keep, load } from "../choice/session.js";
import { element } from "../elements/dom.js";
import { createButtons } from "./heading.js";
import { loaded } from "./files.js";
import { createPython, createReader } from "./python.js";
import { createTeller } from "./teller.js";

const EXPLANATION =
  "The browser draws every curve. Torch's values came along with this page for each op with each rule at the " +
  "defaults of their parameters, of g and of the range, unless one draws at random, for the examples and for the " +
  "lessons: there the curves are torch's. Elsewhere the browser has computed them by the same formulas; in the app " +
  "torch confirms them all.";
const CHOICE = "site-choice";
const NO_READING = { message: "Reading a new formula needs the app.", column: 0 };

/** The data that Python wrote into the page. */
export const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
setDocument(start.document);

/** Python for own formulas, pasted code and the sentences above the chart, where it came along. */
export const python = start.python && createPython(start.python);

/** The means of every instrument of a site. */
export const siteReach = {
  plotly: /** @type {string} */ (start.plotly),
  confirm: createBrought((name) => loaded(`torch/${name}.js`)),
  explanation: EXPLANATION,
  tell: python && createTeller(python),
  read: python ? createReader(python) : async () => NO_READING,
  readCode: null,
  readLines: null,
  save: null,
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
  keep(CHOICE, query);
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (
    document.querySelectorAll("nav a[data-carries]")
  );
  for (const link of links) link.search = query;
}

/** The choice of the page that was left, for one that has none of its own. */
export function carried() {
  return load(CHOICE) ?? "";
}

/** Say what of a link could not be had. @param {string[]} notices */
export function tell(notices) {
  if (!notices.length) return;
  const title = element("b", {}, "Not everything in the link could be used");
  const box = element("section", { class: "notices" }, title, ...notices.map((one) => element("p", {}, one)));
  document.querySelector("main")?.prepend(box);
}

/** Say above the page why it is not there yet; returns what takes that away. @param {string} words */
export function tellWaiting(words) {
  const box = element("section", { class: "notices", role: "status" }, element("p", {}, words));
  document.querySelector("main")?.prepend(box);
  return () => box.remove();
}
