// Sections that the app alone has: a sentence, and a link to it.

import { element, setText } from "../../elements/dom.js";
import { listed } from "../../formula/phrases.js";
import { held } from "../../formula/records.js";

/**
 * @typedef {{names: Record<string, string>, address: string}} Elsewhere sections by key; where the app is
 *   told of
 */

/** A sentence and the way to the app. @param {Element} sentence @param {string} address */
export function besideWay(sentence, address) {
  const way = element("a", { href: address }, "How to run the app");
  return element("div", { class: "elsewhere" }, sentence, way);
}

/** The sentence on rules whose checks and neighbours only the app computes. @param {string[]} labels of the rules */
export function needsApp(labels) {
  const whom = labels.length > 1 ? "them" : "it";
  return `To check ${listed(labels)} here, and to find the rules of the catalogue near ${whom}, takes the app.`;
}

/**
 * The sections.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store} & Elsewhere} options
 */
export function createElsewhere(host, { store, names, address }) {
  const sentence = element("p");
  const body = besideWay(sentence, address);
  host.append(body);

  /** @param {import("../../choice/choice.js").Choice} choice */
  function show({ section }) {
    const name = held(names, section);
    body.hidden = name === undefined;
    setText(
      sentence,
      name ? `The section ${name} needs the app: the server computes it, and this site has none.` : "",
    );
  }

  const stop = store.follow(show);
  return { destroy: stop };
}
