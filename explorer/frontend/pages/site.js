// Code common to all pages of the static site: their data, heading, and answers without a server.

import { confirmBy } from "../asking/confirm.js";
import { setDocument } from "../choice/entries.js";
import { saveInSession, loadFromSession } from "../choice/session.js";
import { element } from "../elements/dom.js";
import { showNotices } from "../elements/notices.js";
import { createButtons } from "./heading.js";
import { createPython } from "../asking/python.js";
import { createSiteAsk } from "../asking/ask-site.js";

const EXPLANATION =
  "The browser draws every curve. This page includes torch's values for each op with each rule at the " +
  "defaults of their parameters, of g and of the range, unless one draws at random, for the examples and for the " +
  "lessons: there the curves are torch's. Elsewhere the browser has computed them by the same formulas; in the app " +
  "torch confirms them all.";
const WORDS_TEXT =
  "This page includes sentences for the defaults and the examples. The app has them for everything else.";
const CHOICE_KEY = "site-choice";

/** The data that Python has written into the page. */
export const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
setDocument(start.document);

const lessons = (start.course?.lessons ?? []).map((/** @type {{key: string}} */ { key }) => key);
export const ask = createSiteAsk(start.python && createPython(start.python), {
  lessons,
  unknown: start.unknown,
});

/** The functions that replace the server on the static site. */
export const siteReach = {
  plotly: /** @type {string} */ (start.plotly),
  ask,
  confirm: confirmBy(ask),
  explanation: EXPLANATION,
  elsewhere: WORDS_TEXT,
  sections: {},
  examples: [],
};

/** Fill the heading of the page with buttons, or remove it if the page is embedded in another one. */
export function fillHeading() {
  const heading = /** @type {HTMLElement} */ (document.querySelector("header"));
  const embed = new URLSearchParams(location.search).getAll("embed").at(-1);
  if (embed?.toLowerCase() === "true") return heading.remove();
  createButtons(/** @type {HTMLElement} */ (heading.querySelector(".copy")));
  return undefined;
}

/**
 * Add a query to the links to other pages of the site, and store it for pages that do not pass it on.
 * @param {string} [query] by default the query that the previous page has stored
 */
export function setLinkQuery(query = loadFromSession(CHOICE_KEY) ?? "") {
  saveInSession(CHOICE_KEY, query);
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (
    document.querySelectorAll("nav a[data-carries]")
  );
  for (const link of links) link.search = query;
}

/** Show messages about values in the link of the page that could not be used. @param {string[]} notices */
export function showReadNotices(notices) {
  showNotices(
    document.body,
    notices.map((text) => ({ text })),
  );
}

/** Show what the page is waiting for. Returns a function that removes the message. @param {string} words */
export function showWait(words) {
  const box = element("section", { class: "notices", role: "status" }, element("p", {}, words));
  document.querySelector("main")?.prepend(box);
  return () => box.remove();
}
