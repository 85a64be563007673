// The instrument in a saved file or a notebook: no server, so nothing is confirmed or read anew.

import { titleOf } from "../choice/address.js";
import { setDocument } from "../choice/entries.js";
import { createInstrument } from "../explore/page/instrument.js";
import { received } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { wordOf } from "../choice/view.js";

document.querySelector(".unstarted")?.remove();
const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
const store = createStore();
setDocument(start.document);
const { format, map } = wordOf("section").words;
store.subscribe((choice) => (document.title = titleOf(choice)));
store.change(received(start.choice), { origin: "start" });
createInstrument(/** @type {HTMLElement} */ (document.querySelector(".instrument")), store, {
  plotly: "",
  confirm: null,
  read: null,
  readCode: null,
  readLines: null,
  save: null,
  sections: { format, map },
  examples: [],
  words: start.words,
});
