// The invitation to a class: a small QR code in the bar, and a window with the code, address and QR code in large type
// for a projector.

import { element, setText } from "../elements/dom.js";
import { shape } from "../elements/svg.js";

/**
 * The addresses of a class, from the server. ``size``, ``path``: its QR code as an SVG path.
 * @typedef {{code: string, address: string, entry: string, size: number, path: string}} Invitation
 */

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];
const LOCAL_TEXT = "Only this computer can open this address. Open the app under its network address first.";

/**
 * Create a button with the QR code of a class. It opens a window with the code, address and QR code in large type.
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
  const label = `Show the code ${invitation.code} large`;
  const attributes = { class: "symbol bare", onclick: open, "aria-label": label, title: invitation.address };
  const button = element("button", attributes, createSymbol(invitation));
  const code = element("b", {}, invitation.code);
  const words = element("p", { class: "where" }, element("span", {}, address), code);
  return {
    element: element("div", { class: "invite flex-wrap" }, button, words, window),
    open,
    /** @param {string} text */
    say: (text) => setText(count, text),
  };
}

/** Create the image of a QR code, dark on white so that scanners can read it. @param {Invitation} told */
function createSymbol({ size, path }) {
  const symbol = shape("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", "aria-hidden": "true" });
  symbol.append(
    shape("rect", { width: size, height: size, fill: "#fff" }),
    shape("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }),
  );
  return symbol;
}
