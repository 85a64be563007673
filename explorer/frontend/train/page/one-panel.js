// The panel that explains the sentence about a backward rule, opened by the button "Why?".

import { createChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { createPanel } from "../panels/panel.js";

/** @import { Row } from "../panels/panel.js" */
/**
 * The reason of a rule's result (``why``), with the panel that supports it, or else the chart that does (``chart``).
 * @typedef {{key: string, label: string, colour: string, why: string, chart: string, row: Row|null}} Picture
 */

/** @param {HTMLElement} host @param {{onClose: () => void, onEvidence: () => void}} on */
export function createOnePanel(host, { onClose, onEvidence }) {
  const title = element("h2", {});
  const close = element("button", { class: "close", "aria-label": "Close", onclick: onClose }, "×");
  const reason = element("p", { class: "reason" });
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
  host.append(element("header", {}, title, close), reason, body, limits, all);

  return {
    /** @param {Picture|null} picture */
    show(picture) {
      host.hidden = !picture;
      if (!picture) return;
      host.style.setProperty("--colour", picture.colour);
      setText(title, `Why? ${picture.label}`);
      panels.show(picture.row ? [picture.row] : []);
      setText(reason, picture.why);
      setText(limits, picture.row ? `Not shown here: ${picture.row.limits}` : picture.chart);
    },
  };
}
