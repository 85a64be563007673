// What of a link was read otherwise than it is written, or could not be used: over the page, until it is closed.

import { element } from "./dom.js";

const MOST = 10;

/**
 * A sentence, and addresses that may be meant instead, by the name of what they lead to.
 * @typedef {{text: string, links?: Record<string, string>}} Notice
 */

/** Show notices, if there are any, in a host. @param {Element} host @param {Notice[]} notices */
export function showNotices(host, notices) {
  if (!notices.length) return;
  const close = element("button", { "aria-label": "Close", onclick: () => box.remove() }, "×");
  const rest = notices.length - MOST;
  const box = element(
    "section",
    { class: "link-notices", role: "status" },
    element("b", {}, "This link was read with changes"),
    close,
    ...notices.slice(0, MOST).map(noticeOf),
    ...(rest > 0 ? [element("p", {}, `… and ${rest} more.`)] : []),
  );
  host.append(box);
}

/** @param {Notice} notice */
function noticeOf({ text, links = {} }) {
  const ways = Object.entries(links).map(([name, query]) =>
    element("a", { href: `?${query}` }, `Open ${name}`),
  );
  return element("p", {}, text, ...ways.flatMap((way) => [" ", way]));
}
