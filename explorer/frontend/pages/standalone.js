// The instrument in a saved file or a notebook: no server, so nothing is confirmed or read anew.

import { toTitle } from "../choice/address.js";
import { setDocument } from "../choice/entries.js";
import { createInstrument } from "../explore/page/instrument.js";
import { createSavedAsk } from "../explore/page/saved-answers.js";
import { parseMessage } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { getWord } from "../choice/view.js";

const ELSEWHERE =
  "This file has Python's answer for the values it was saved with. Elsewhere, the app answers this.";
const PYTHONS = "Python answers this, and this file has no Python: save one with this open, or ask the app.";
const WORDS = "This file has the sentences for the values it was saved with. Elsewhere, the app says them.";

document.querySelector(".unstarted")?.remove();
const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
const store = createStore();
const { limits } = start.document;
// It has no links: a query is what a row of the table is found by, of any length.
setDocument({ ...start.document, link: { words: [] }, limits: { ...limits, query: Infinity } });
const { format, compare, map } = getWord("section").words;
store.subscribe((choice) => (document.title = toTitle(choice)));
store.change(parseMessage(start.choice), { origin: "start" });
createInstrument(/** @type {HTMLElement} */ (document.querySelector(".instrument")), store, {
  plotly: "",
  ask: createSavedAsk(start.answers, store.current, { elsewhere: ELSEWHERE, never: PYTHONS }),
  confirm: null,
  elsewhere: WORDS,
  sections: { format, compare, map },
  examples: [],
  words: start.words,
});
