// The instrument in a saved file or a notebook: no server, so nothing is confirmed or read anew.

import { titleOf } from "../choice/address.js";
import { setDocument } from "../choice/entries.js";
import { createInstrument } from "../explore/page/instrument.js";
import { queryFor } from "../explore/sections/compare.js";
import { received } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { wordOf } from "../choice/view.js";

const AT_START = "Measured in Python: this file has it for the values that it was saved with alone.";
const PYTHONS =
  "Measured in Python, which this file does not have: one that is saved with this table open, or made by " +
  'explorer.instrument(…, section="compare"), brings it along.';

document.querySelector(".unstarted")?.remove();
const start = JSON.parse(document.getElementById("start")?.textContent ?? "");
const store = createStore();
const { limits } = start.document;
// It has no links: a query is what a row of the table is found by, of any length.
setDocument({ ...start.document, link: { words: [] }, limits: { ...limits, query: Infinity } });
const { format, compare, map } = wordOf("section").words;
store.subscribe((choice) => (document.title = titleOf(choice)));
store.change(received(start.choice), { origin: "start" });
const measured = new Map(
  Object.entries(start.rows ?? {}).map(([key, line]) => [queryFor(store.now, { key }), line]),
);

/** A row of the table that was measured when the file was made. @type {import("../explore/sections/checks.js").ReadLines} */
async function readRows(_what, query) {
  const line = measured.get(query);
  return line ? { lines: [line] } : { message: start.rows ? AT_START : PYTHONS };
}

createInstrument(/** @type {HTMLElement} */ (document.querySelector(".instrument")), store, {
  plotly: "",
  confirm: null,
  read: null,
  readCode: null,
  readLines: null,
  readRows,
  save: null,
  sections: { format, compare, map },
  examples: [],
  words: start.words,
});
