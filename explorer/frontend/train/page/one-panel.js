// The panel that explains the sentence about a backward rule, opened by the button "Why?".

import { createChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { createPanel } from "../panels/panel.js";

/** @import { Row } from "../panels/panel.js" */
/** The panel of a rule. @typedef {{key: string, label: string, colour: string, row: Row|null}} Picture */

/** @param {HTMLElement} host @param {{onClose: () => void, onEvidence: () => void}} on */
export function createOnePanel(host, { onClose, onEvidence }) {
  const title = element("h2", {});
  const close = element("button", { class: "close", "aria-label": "Close", onclick: onClose }, "×");
  const body = element("div", {});
  const limits = element("p", { class: "note" });
  const all = element("button", { class: "all-evidence", onclick: onEvidence }, "All evidence");
  const ignore = () => undefined;
  const panels = createChildren(
    body,
    (/** @type {Row} */ { panel }) =>
      createPanel(panel, { onLegend: ignore, onNumber: ignore, onPick: ignore }),
    ({ panel }) => panel.key,
  );
  host.append(element("header", {}, title, close), body, limits, all);

  return {
    /** @param {Picture|null} picture */
    show(picture) {
      host.hidden = !picture;
      if (!picture) return;
      host.style.setProperty("--colour", picture.colour);
      setText(title, `Why? ${picture.label}`);
      panels.show(picture.row ? [picture.row] : []);
      setText(limits, picture.row ? `Not shown here: ${picture.row.limits}` : "");
    },
  };
}
