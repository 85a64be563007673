// Messages over the page about values in its link that were changed or ignored. They go at the first press elsewhere, and
// pass after some seconds, unless the pointer is on them, they offer a link, or motion is reduced.

import { element } from "./dom.js";

const MAX_NOTICES = 10;

/**
 * A message. ``links``: queries of alternatives, by the text of the link.
 * @typedef {{text: string, links?: Record<string, string>}} Notice
 */

/** Show messages over the page, if there are any. @param {Element} host @param {Notice[]} notices */
export function showNotices(host, notices) {
  if (!notices.length) return;
  const close = element(
    "button",
    { class: "quiet", "aria-label": "Close", onclick: () => box.remove() },
    "×",
  );
  const rest = notices.length - MAX_NOTICES;
  const box = element(
    "section",
    {
      class: "link-notices",
      role: "status",
      "data-passing": notices.every(({ links = {} }) => !Object.keys(links).length),
      onanimationend: () => box.remove(),
    },
    element("b", {}, "This link was read with changes"),
    close,
    ...notices.slice(0, MAX_NOTICES).map(createNotice),
    ...(rest > 0 ? [element("p", {}, `… and ${rest} more.`)] : []),
  );
  box.style.setProperty("--time", `${5 + notices.length}s`);
  const leave = (/** @type {Event} */ { target }) => {
    if (target instanceof Node && box.contains(target)) return;
    removeEventListener("pointerdown", leave, true);
    box.remove();
  };
  addEventListener("pointerdown", leave, true);
  host.append(box);
}

/** @param {Notice} notice */
function createNotice({ text, links = {} }) {
  const ways = Object.entries(links).map(([name, query]) =>
    element("a", { href: `?${query}` }, `Open ${name}`),
  );
  return element("p", {}, text, ...ways.flatMap((way) => [" ", way]));
}
