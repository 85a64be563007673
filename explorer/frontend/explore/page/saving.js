// The button that saves the whole instrument as one file, which the browser writes.

import { curvesArguments } from "../../asking/ask.js";
import { decodeCurves } from "../../asking/confirm.js";
import { loaded } from "../../asking/files.js";
import { getCatalogue } from "../../choice/entries.js";
import { toMessage } from "../../choice/message.js";
import { element, setText } from "../../elements/dom.js";
import { download } from "../sections/download.js";
import { NO_WORDS } from "../stage/words.js";
import { collectAnswers } from "./saved-answers.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @typedef {import("../../asking/ask.js").Ask} Ask */

const GONE = "The file could not be loaded: try again.";

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: Ask, server?: (path: string) => string,
 *   template?: () => Promise<*>}} options ``template`` gives what a file is written from, where no address does
 */
export function createSaving(host, { store, ask, server = (path) => path, template }) {
  const load = template ?? (() => loaded(server(getCatalogue().saved)));
  const status = element("span", { role: "status", class: "said" });
  const button = element("button", { class: "save", onclick: save }, "Save as HTML");

  async function save() {
    setText(status, "");
    const text = await load()
      .then((whole) => writeFile(store.current, whole, ask))
      .catch(() => "");
    if (text) download({ name: "gradient-explorer.html", type: "text/html", content: () => text });
    else setText(status, GONE);
  }

  host.append(element("span", { class: "saving" }, status, " ", button));
  return { destroy: () => undefined };
}

/**
 * The instrument with a choice as one file.
 * @param {Choice} choice
 * @param {{gzip: string[], names: string[], limits: string[]}} template the file before and after its data, and the
 *   names of those parts of the document and of its limits that it needs
 * @param {Ask} ask
 */
export async function writeFile(choice, { gzip, names, limits }, ask) {
  const [before, after] = await Promise.all(gzip.map(unpack));
  const whole = getCatalogue();
  const document = { ...pick(whole, names), limits: pick(whole.limits, limits) };
  const words = await findWords(choice, ask);
  const start = { document, choice: toMessage(choice), words, answers: await collectAnswers(choice, ask) };
  return before + JSON.stringify(start).replaceAll("<", "\\u003c") + after;
}

/** Python's sentences on a choice, or none where it does not answer. @param {Choice} choice @param {Ask} ask */
async function findWords(choice, ask) {
  const answer = decodeCurves(await ask("curves", curvesArguments(choice)));
  return "message" in answer ? NO_WORDS : answer.words;
}

/** @param {Record<string, *>} whole @param {string[]} names */
function pick(whole, names) {
  return Object.fromEntries(names.map((name) => [name, whole[name]]));
}

/** @param {string} packed a text in gzip's format, as base64 */
function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
