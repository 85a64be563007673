// The instrument in a saved file or a notebook: no server, so nothing is confirmed or read anew.

import { titleOf } from "./address.js";
import { setDocument } from "./entries.js";
import { createInstrument } from "./instrument.js";
import { received } from "./message.js";
import { createStore } from "./store.js";

const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
const store = createStore();
setDocument(start.document);
store.subscribe((choice) => (document.title = titleOf(choice)));
store.change(received(start.choice), { origin: "start" });
createInstrument(/** @type {HTMLElement} */ (document.querySelector(".instrument")), store, {
  plotly: "",
  confirm: null,
  read: null,
  readCode: null,
  save: null,
  sections: {},
  examples: [],
  words: start.words,
});
