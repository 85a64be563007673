// The sections that the app alone has: a sentence, and the way to it.

import { element, setText } from "../elements/dom.js";

/**
 * @typedef {{names: Record<string, string>, address: string}} Elsewhere sections by key; where the app is
 *   told of
 */

/**
 * @param {HTMLElement} host
 * @param {{store: import("../choice/store.js").Store} & Elsewhere} options
 */
export function createElsewhere(host, { store, names, address }) {
  const sentence = element("p");
  const way = element("a", { href: address }, "How to run the app");
  const place = element("div", { class: "elsewhere" }, sentence, way);
  host.append(place);

  /** @param {import("../choice/choice.js").Choice} choice */
  function show({ section }) {
    place.hidden = !(section in names);
    setText(
      sentence,
      `The section ${names[section]} needs the app: the server computes it, and this site has none.`,
    );
  }

  const stop = store.subscribe(show);
  if (store.choice) show(store.choice);
  return { destroy: stop };
}
