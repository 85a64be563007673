// The invitation to a class: a small QR code in the bar, and a large one for projection with address and code.

import { element, setText } from "../elements/dom.js";
import { shape } from "../elements/svg.js";

/** @typedef {{code: string, address: string, entry: string, size: number, path: string}} Invitation from the server */

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];
const LOCAL_TEXT = "Only this computer can open this address. Open the app under its network address first.";

/**
 * Create a button with a class's QR code, and the window that shows the code, the address and the QR code in large.
 * @param {Invitation} invitation
 */
export function createInvitation(invitation) {
  const address = invitation.entry.replace(/^https?:\/\//, "");
  const warning = LOCAL_HOSTS.includes(new URL(invitation.entry).hostname)
    ? [element("p", { class: "unreached" }, LOCAL_TEXT)]
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
    createSymbol(invitation),
    element("p", { class: "where" }, "Open ", element("b", {}, address), " and type"),
    element("p", { class: "code-of" }, invitation.code),
    ...warning,
    count,
    element("button", { onclick: () => window.hidePopover() }, "Close"),
  );
  const open = () => {
    window.showPopover();
    window.focus();
  };
  const button = element(
    "button",
    {
      class: "symbol",
      onclick: open,
      "aria-label": `Show the code ${invitation.code} large`,
      title: invitation.address,
    },
    createSymbol(invitation),
  );
  const words = element(
    "p",
    { class: "where" },
    element("span", {}, address),
    element("b", {}, invitation.code),
  );
  return {
    element: element("div", { class: "invite" }, button, words, window),
    open,
    /** Show the number of students in the window of the QR code. @param {string} text */
    say: (text) => setText(count, text),
  };
}

/** Create the image of a QR code, dark on white in every theme because scanners need it. @param {Invitation} told */
function createSymbol({ size, path }) {
  const symbol = shape("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", "aria-hidden": "true" });
  symbol.append(
    shape("rect", { width: size, height: size, fill: "#fff" }),
    shape("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }),
  );
  return symbol;
}
