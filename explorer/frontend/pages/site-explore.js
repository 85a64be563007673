// The page Explore of the static site, without a server.

import { toQuery } from "../choice/address.js";
import { addCustomEntries, getCustomEntries } from "../choice/entries.js";
import { parseMessage } from "../choice/message.js";
import { readLink, readCustomFormulas } from "../choice/link-reader.js";
import { saveInSession, loadFromSession } from "../choice/session.js";
import { store } from "../choice/store.js";
import { element } from "../elements/dom.js";
import { createPage } from "./page.js";
import { parseExamples } from "./reach.js";
import { fillHeading, ask, setLinkQuery, siteReach, start, showReadNotices, showWait } from "./site.js";

const FORMULAS_KEY = "own-formulas";
const { sections, app, languages, notebook, torch } = start;
const ORIGIN_TEXT =
  `This page includes results of torch ${torch} for each op with each rule, at default parameters and, for ` +
  "comparisons with another rule, on the default range. Elsewhere the app checks it.";
const [first, examples] = [parseMessage(start.choice), parseExamples(start.examples)];
addCustomEntries(start.own);
// so that formulas typed on an earlier visit are known
if (loadFromSession(FORMULAS_KEY)) addCustomEntries(loadFromSession(FORMULAS_KEY));
fillHeading();
const { choice, notices } = readLink(location.search, { first, own: await readFormulas() });
showReadNotices(notices);
const page = createPage(/** @type {HTMLElement} */ (document.querySelector("main .instrument")), choice, {
  ...siteReach,
  calm: true,
  sections,
  languages,
  notebook,
  origin: createOrigin,
  examples,
});
store.subscribe((now, { phase }) => {
  if (phase !== "settled") return;
  setLinkQuery(toQuery(now));
  saveInSession(FORMULAS_KEY, getCustomEntries(now));
});
page.join();

/** Create a remark on where the results of checks come from, with a link to instructions for the app. */
function createOrigin() {
  const way = element("a", { href: app }, "How to run the app");
  return element("div", { class: "elsewhere" }, element("p", {}, ORIGIN_TEXT), way);
}

async function readFormulas() {
  if (!ask.has("entry")) return null;
  setLinkQuery(location.search.slice(1)); // for other pages, if the user leaves before the link is parsed
  let endWait = () => {};
  const wait = (/** @type {string} */ words) => {
    endWait();
    if (words) endWait = showWait(words);
  };
  const formulas = await readCustomFormulas(
    location.search,
    (kind, text) => /** @type {*} */ (ask("entry", { kind, text }, { onWait: wait })),
  );
  endWait();
  return formulas;
}
