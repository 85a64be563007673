// The area "Why": its panels, the buttons that open them, and the choice of a layer.

import { createChildren } from "../../elements/children.js";
import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { createPanel } from "../panels/panel.js";
import { createSearch } from "./line-search-chart.js";
import { createToggleGroup } from "../widgets/toggle-group.js";

/**
 * The contents of the area. ``buttons``: one for each panel; ``of``: a note on which seed's nets are shown; ``rows``:
 * the open panels; ``search``: the line search, or null if closed.
 * @typedef {{buttons: {key: string, label: string, open: boolean}[], layers: {count: number, chosen: number}, of:
 *   string, rows: import("../panels/panel.js").Row[], search: import("./line-search-chart.js").Picture|null}} Picture
 */

/**
 * Create the area "Why".
 * @param {HTMLElement} host
 * @param {{onPanel: (key: string, open: boolean) => void, onLayer: (layer: number) => void, onLegend: (panel:
 *   import("../state/instruments.js").Panel, index: number) => void, onNumber: (key: string, name: string, value:
 *   number) => void, onSearch: () => void}} on ``onPanel``: opens or closes a panel; ``onLegend``: called when a button
 *   of a legend is pressed; ``onNumber``: changes an argument of an instrument; ``onSearch``: starts the line search
 * @param {{plotly: string, onPoint: (rule: string|null) => void}} reach ``onPoint``: called with the rule at the
 *   pointer
 */
export function createWhy(host, { onPanel, onLayer, onLegend, onNumber, onSearch }, reach) {
  const layers = createToggleGroup("Layer", (/** @type {number} */ layer) => onLayer(layer));
  const head = element("div", { class: "why-head flex-wrap text-small" });
  const body = element("div", {});
  const panels = createChildren(body, createRow, ({ panel }) => panel.key);
  let search = /** @type {ReturnType<typeof createSearch>|null} */ (null);
  host.append(head, body);

  /**
   * Open the panel with details about an example, and scroll to it.
   * @param {import("../state/instruments.js").Panel} panel the panel in which the example was picked
   * @param {number} value its index
   */
  function pick({ picks }, value) {
    if (!picks) return;
    onPanel(picks.panel, true);
    onNumber(picks.panel, picks.name, value);
    panels.parts.get(picks.panel)?.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  /** @param {import("../panels/panel.js").Row} row */
  function createRow({ panel }) {
    return createPanel(panel, {
      onLegend: (index) => onLegend(panel, index),
      onNumber: (name, value) => onNumber(panel.key, name, value),
      onPick: (value) => pick(panel, value),
    });
  }

  return {
    /** @param {Picture} picture */
    show({ buttons, layers: { count, chosen }, of: netNote, rows, search: along }) {
      host.hidden = buttons.length === 0;
      const toggles = buttons.map(({ key, label, open }) => {
        const state = { "aria-label": `Show ${label}`, "aria-pressed": String(open) };
        return h("button", { key, ...state, onclick: () => onPanel(key, !open) }, label);
      });
      const group = { class: "switches flex-wrap", role: "group", "aria-label": "Shown below" };
      render(head, h("h2", {}, "Why"), h("div", group, toggles), layers.element, h("p", {}, netNote));
      const options = Array.from({ length: count }, (_, value) => ({ value, label: `${value + 1}` }));
      layers.show(options, chosen);
      layers.element.hidden = count < 2;
      panels.show(rows);
      if (along) search ??= createSearch(reach, onSearch);
      if (!along) search?.element.remove();
      else if (search?.element.parentElement !== body) body.append(search?.element);
      if (along) search?.show(along);
    },
    destroy: () => search?.destroy(),
  };
}
