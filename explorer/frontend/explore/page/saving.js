// The button that saves the interactive page as one HTML file.

import { getCurvesArguments } from "../../asking/ask.js";
import { decodeCurves } from "../../asking/confirm.js";
import { loadFile } from "../../asking/files.js";
import { getCatalogue } from "../../choice/entries.js";
import { toMessage } from "../../choice/message.js";
import { element, saveBlob, setText } from "../../elements/dom.js";
import { NO_WORDS } from "../stage/words.js";
import { collectAnswers } from "./saved-answers.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @typedef {import("../../asking/ask.js").Ask} Ask */

const FAILED_TEXT = "The file to save could not be loaded: try again.";

/**
 * Create the button that saves the page as an HTML file.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: Ask, server?: (path: string) => string, template?: () =>
 *   Promise<*>}} options ``server``: makes addresses; ``template``: resolves to the file's template, by default the
 *   server's
 */
export function createSaving(host, { store, ask, server = (path) => path, template }) {
  const load = template ?? (() => loadFile(server(getCatalogue().saved)));
  const status = element("span", { role: "status", class: "said text-small" });
  const button = element("button", { onclick: save }, "Save as HTML");

  async function save() {
    setText(status, "");
    const text = await load()
      .then((whole) => writeFile(store.current, whole, ask))
      .catch(() => "");
    if (text) saveBlob(new Blob([text], { type: "text/html" }), "gradient-explorer.html");
    else setText(status, FAILED_TEXT);
  }

  host.append(element("span", { class: "saving" }, button, status));
  return { destroy: () => undefined };
}

/**
 * Resolve to the text of an HTML file with the interactive page and its current settings.
 * @param {Choice} choice
 * @param {{gzip: string[], names: string[], limits: string[]}} template ``gzip``: the file before and after its data,
 *   as gzip in base64; ``names``, ``limits``: the names of the catalogue's parts and limits that the file needs
 * @param {Ask} ask
 */
export async function writeFile(choice, { gzip, names, limits }, ask) {
  const [before, after] = await Promise.all(gzip.map(unpack));
  const fullDocument = getCatalogue();
  const document = { ...pick(fullDocument, names), limits: pick(fullDocument.limits, limits) };
  const curves = decodeCurves(await ask("curves", getCurvesArguments(choice)));
  const words = "message" in curves ? NO_WORDS : curves.words;
  const start = { document, choice: toMessage(choice), words, answers: await collectAnswers(choice, ask) };
  return before + JSON.stringify(start).replaceAll("<", "\\u003c") + after;
}

/** @param {Record<string, *>} record @param {string[]} names */
function pick(record, names) {
  return Object.fromEntries(names.map((name) => [name, record[name]]));
}

/** @param {string} packed gzip data in base64 */
function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
