// Explore without a server.

import { queryOf } from "../choice/address.js";
import { isOwn } from "../choice/entries.js";
import { received } from "../choice/message.js";
import { readLink } from "../choice/reading.js";
import { store } from "../choice/store.js";
import { loaded } from "./files.js";
import { createPage } from "./page.js";
import { receivedExamples } from "./reach.js";
import { arrange, carryOn, siteReach, start, tell } from "./site.js";

const { sections, examples, elsewhere, app } = start;
const { choice, notices } = readLink(location.search, { first: received(start.choice), sections });
arrange();
tell(notices);
const page = createPage(/** @type {HTMLElement} */ (document.querySelector("main .instrument")), choice, {
  ...siteReach,
  sections,
  readCodes: (op) => (isOwn(op) ? Promise.resolve({}) : loaded(`code/${op}.js`)),
  elsewhere: { names: elsewhere, address: app },
  examples: receivedExamples(examples),
});
store.subscribe((now, { phase }) => phase === "settled" && carryOn(queryOf(now)));
page.join(() => undefined);
