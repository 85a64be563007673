// The way into a class: address, code and QR code, small beside the counts and large for a whole room.

import { element, setText } from "../elements/dom.js";
import { shape } from "../elements/svg.js";

/** @typedef {{code: string, address: string, entry: string, size: number, path: string}} Invitation of the server */

const ALONE = ["localhost", "127.0.0.1", "[::1]"];
const UNREACHED =
  "This address is that of this machine alone: for others, open the explorer by the name that they reach it by.";

/**
 * A button with the QR code, the code beside it, and the window that it opens.
 * @param {Invitation} told
 */
export function createInvitation(told) {
  const address = told.entry.replace(/^https?:\/\//, "");
  const alone = ALONE.includes(new URL(told.entry).hostname)
    ? [element("p", { class: "unreached" }, UNREACHED)]
    : [];
  const count = element("p", { class: "where", role: "status" });
  const window = element(
    "div",
    {
      popover: "auto",
      class: "invitation",
      role: "dialog",
      "aria-label": "The code of the class",
      tabindex: 0,
    },
    symbolOf(told),
    element("p", { class: "where" }, "Open ", element("b", {}, address), " and type"),
    element("p", { class: "code-of" }, told.code),
    ...alone,
    count,
    element("button", { onclick: () => window.hidePopover() }, "Close"),
  );
  const open = () => {
    window.showPopover();
    window.focus();
  };
  const button = element(
    "button",
    { class: "symbol", onclick: open, "aria-label": `Show the code ${told.code} large`, title: told.address },
    symbolOf(told),
  );
  const words = element("p", { class: "where" }, element("span", {}, address), element("b", {}, told.code));
  return {
    element: element("div", { class: "invite" }, button, words, window),
    open,
    /** Say in the large window how many are here. @param {string} text */
    say: (text) => setText(count, text),
  };
}

/** The QR code, dark on white in every theme: readers want it so. @param {Invitation} told */
function symbolOf({ size, path }) {
  const symbol = shape("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", "aria-hidden": "true" });
  symbol.append(
    shape("rect", { width: size, height: size, fill: "#fff" }),
    shape("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }),
  );
  return symbol;
}
