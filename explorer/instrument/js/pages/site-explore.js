// Explore without a server.

import { queryOf } from "../choice/address.js";
import { received } from "../choice/message.js";
import { readLink } from "../choice/reading.js";
import { store } from "../choice/store.js";
import { createSections } from "../explore/sections.js";
import { createPage } from "./page.js";
import { receivedExamples } from "./reach.js";
import { arrange, carryOn, siteReach, start, tell } from "./site.js";
import { readCodes, readFormulas, readLines, readNotebooks, writtenFile } from "./site-files.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */

const { sections, examples, elsewhere, app, languages, notebook, torch, saved } = start;
const CHECKED = `What torch ${torch} found for each op with each rule, at the defaults of their parameters.`;
const { confirm } = siteReach;
const { choice, notices } = readLink(location.search, { first: received(start.choice), sections });
arrange();
tell(notices);
const page = createPage(/** @type {HTMLElement} */ (document.querySelector("main .instrument")), choice, {
  ...siteReach,
  sections,
  createSections: (host, of) =>
    createSections(host, {
      store: of,
      elsewhere: { names: elsewhere, address: app },
      ...{ confirm, languages, notebook, readCodes, readNotebooks, readFormulas },
    }),
  readLines,
  checked: CHECKED,
  write: async (now) => writtenFile(now, start.document, saved, await wordsOf(now)),
  examples: receivedExamples(examples),
});
store.subscribe((now, { phase }) => phase === "settled" && carryOn(queryOf(now)));
page.join(() => undefined);

/**
 * The sentences on a choice that came along, or none.
 * @param {Choice} now
 * @returns {Promise<{main: string, rest: string}>}
 */
function wordsOf(now) {
  return new Promise((resolve) =>
    confirm({
      onAnswer: ({ words }) => resolve(words),
      onStatus: (status) => status === "computed" && resolve({ main: "", rest: "" }),
    }).ask(now),
  );
}
