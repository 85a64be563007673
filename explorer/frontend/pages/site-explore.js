// Explore without a server.

import { toQuery } from "../choice/address.js";
import { addCustomEntries, getCustomEntries } from "../choice/entries.js";
import { parseMessage } from "../choice/message.js";
import { readLink, readCustomFormulas } from "../choice/link-reader.js";
import { saveInSession, loadFromSession } from "../choice/session.js";
import { store } from "../choice/store.js";
import { element } from "../elements/dom.js";
import { createPage } from "./page.js";
import { receivedExamples } from "./reach.js";
import { arrange, ask, carryOn, siteReach, start, tell, tellWaiting } from "./site.js";

const OWN = "own-formulas";
const { sections, app, languages, notebook, torch } = start;
const FOUND =
  `What torch ${torch} found for each op with each rule came along, at the defaults of their parameters and, for ` +
  "what stands beside another rule, of the range. Elsewhere the app checks it.";
const [first, examples] = [parseMessage(start.choice), receivedExamples(start.examples)];
addCustomEntries(start.own);
if (loadFromSession(OWN)) addCustomEntries(loadFromSession(OWN)); // of who has been here
arrange();
const { choice, notices } = readLink(location.search, { first, own: await own() });
tell(notices);
const page = createPage(/** @type {HTMLElement} */ (document.querySelector("main .instrument")), choice, {
  ...siteReach,
  calm: true,
  sections: ask.has("read") ? sections : without(sections, "paste"),
  languages,
  notebook,
  origin,
  examples,
});
store.subscribe((now, { phase }) => {
  if (phase !== "settled") return;
  carryOn(toQuery(now));
  saveInSession(OWN, getCustomEntries(now));
});
page.join();

/** The origin of the lines of checks, and the way to the app. */
function origin() {
  const way = element("a", { href: app }, "How to run the app");
  return element("div", { class: "elsewhere" }, element("p", {}, FOUND), way);
}

/** The own formulas of the link, where Python came along. */
async function own() {
  if (!ask.has("entry")) return null;
  carryOn(location.search.slice(1)); // of who leaves before it has been read
  let done = () => {};
  const wait = (/** @type {string} */ words) => {
    done();
    if (words) done = tellWaiting(words);
  };
  const formulas = await readCustomFormulas(
    location.search,
    (kind, text) => /** @type {*} */ (ask("entry", { kind, text }, { onWait: wait })),
  );
  done();
  return formulas;
}

/** @param {Record<string, string>} sections @param {string} key */
function without(sections, key) {
  return Object.fromEntries(Object.entries(sections).filter(([name]) => name !== key));
}
