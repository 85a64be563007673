// Explore without a server.

import { queryOf } from "../choice/address.js";
import { learnAll, ownEntries } from "../choice/entries.js";
import { received } from "../choice/message.js";
import { readLink, readOwn } from "../choice/reading.js";
import { keep, load } from "../choice/session.js";
import { store } from "../choice/store.js";
import { element } from "../elements/dom.js";
import { atDefaults } from "../explore/sections/beside.js";
import { besideWay, needsApp } from "../explore/sections/elsewhere.js";
import { createSections } from "../explore/sections/sections.js";
import { sentencesOf } from "../explore/stage/telling.js";
import { createPage } from "./page.js";
import { createCodeReader } from "./python.js";
import { receivedExamples } from "./reach.js";
import { arrange, carryOn, python, siteReach, start, tell, tellWaiting } from "./site.js";
import { readCodes, readFormulas, readLines, readNotebooks, writtenFile } from "./site-files.js";

/** @import { Choice } from "../choice/choice.js" */

const OWN = "own-formulas";
const { sections, elsewhere, app, languages, notebook, torch, saved } = start;
const FOUND =
  `What torch ${torch} found for each op with each rule came along, at the defaults of their parameters and, for ` +
  "what stands beside another rule, of the range. Elsewhere the app checks it.";
const { confirm } = siteReach;
const [first, examples] = [received(start.choice), receivedExamples(start.examples)];
learnAll(start.own);
if (load(OWN)) learnAll(load(OWN)); // of who has been here
arrange();
const { choice, notices } = readLink(location.search, { first, own: await own() });
tell(notices);
const page = createPage(/** @type {HTMLElement} */ (document.querySelector("main .instrument")), choice, {
  ...siteReach,
  calm: true,
  sections,
  createSections: (host, of) =>
    createSections(host, {
      store: of,
      elsewhere: { names: elsewhere, address: app },
      ...{ confirm, languages, notebook, readCodes, readNotebooks, readFormulas, ask: python?.ask ?? null },
    }),
  readCode: python && createCodeReader(python),
  readLines,
  brought: {
    note: () => besideWay(element("p", {}, FOUND), app),
    nearest: atDefaults,
    elsewhere: (labels) => besideWay(element("p", {}, needsApp(labels)), app),
  },
  write: async (now) => writtenFile(now, start.document, saved, await wordsOf(now)),
  examples,
});
store.subscribe((now, { phase }) => {
  if (phase !== "settled") return;
  carryOn(queryOf(now));
  keep(OWN, ownEntries(now));
});
page.join(() => undefined);

/**
 * The sentences on a choice, from the site's files or computed, or none.
 * @param {Choice} now
 * @returns {Promise<{head: string, main: string, rest: string}>}
 */
function wordsOf(now) {
  return new Promise((resolve) =>
    confirm({
      onAnswer: ({ words }) => resolve(words),
      onStatus: (status) => status === "computed" && resolve(sentencesOf(now)),
    }).ask(now),
  );
}

/** The own formulas of the link, where Python came along. */
async function own() {
  if (!python) return null;
  carryOn(location.search.slice(1)); // of who leaves before it has been read
  let done = () => {};
  const wait = (/** @type {string} */ words) => {
    done();
    if (words) done = tellWaiting(words);
  };
  const formulas = await readOwn(location.search, (kind, text) => siteReach.read(kind, text, wait));
  done();
  return formulas;
}
