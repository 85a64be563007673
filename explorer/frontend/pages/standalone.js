// The interactive chart in a saved file, without Python to confirm curves or parse formulas.

import { toTitle } from "../choice/address.js";
import { setDocument } from "../choice/entries.js";
import { createInstrument } from "../explore/page/instrument.js";
import { createSavedAsk } from "../explore/page/saved-answers.js";
import { parseMessage } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { getQueryParameter } from "../choice/view.js";

const SAVED_TEXT = "This file has Python's answer for the values it was saved with. For others, use the app.";
const PYTHON_TEXT = "This file has no Python to answer this: save a file while this is open, or use the app.";
const WORDS_TEXT =
  "This file describes the curves for the values it was saved with. For others, use the app.";

document.querySelector(".unstarted")?.remove();
const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
const store = createStore();
const { limits } = start.document;
// A saved file has no links, so queries may have any length: here they only identify stored answers.
setDocument({ ...start.document, link: { words: [] }, limits: { ...limits, query: Infinity } });
const { format, compare, map } = getQueryParameter("section").words;
store.subscribe((choice) => (document.title = toTitle(choice)));
store.change(parseMessage(start.choice), { origin: "start" });
createInstrument(/** @type {HTMLElement} */ (document.querySelector(".instrument")), store, {
  plotly: "",
  ask: createSavedAsk(start.answers, store.current, { elsewhere: SAVED_TEXT, never: PYTHON_TEXT }),
  confirm: null,
  elsewhere: WORDS_TEXT,
  sections: { format, compare, map },
  examples: [],
  words: start.words,
});
