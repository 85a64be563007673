// The area "Why": its panels, which of them are open, and the layer they are of.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createPanel } from "../panels/panel.js";
import { createSearch } from "./line-search-chart.js";
import { createSwitch } from "../widgets/toggle-group.js";

/**
 * What the area shows: a button for each panel, the layers, which net the pictures are of, and the rows that
 * are open.
 * @typedef {{buttons: {key: string, label: string, open: boolean}[], layers: {count: number, chosen: number},
 *   of: string, rows: import("../panels/panel.js").Row[],
 *   search: import("./line-search-chart.js").Picture|null}} Picture
 */

/**
 * @param {HTMLElement} host
 * @param {{onPanel: (key: string, open: boolean) => void, onLayer: (layer: number) => void,
 *   onLegend: (panel: import("../panels/panel.js").Panel, place: number) => void,
 *   onNumber: (key: string, name: string, value: number) => void, onSearch: () => void}} on
 * @param {{plotly: string, onPoint: (rule: string|null) => void}} reach
 */
export function createWhy(host, { onPanel, onLayer, onLegend, onNumber, onSearch }, reach) {
  const group = element("div", { class: "switches", role: "group", "aria-label": "Shown below" });
  const layers = createSwitch("Layer", (/** @type {number} */ layer) => onLayer(layer));
  const of = element("p", {});
  const body = element("div", {});
  const buttons = /** @type {Map<string, HTMLElement>} */ (new Map());
  let search = /** @type {ReturnType<typeof createSearch>|null} */ (null);
  const panels = /** @type {Map<string, ReturnType<typeof createPanel>>} */ (new Map());
  host.append(
    element("div", { class: "why-head" }, element("h2", {}, "Why"), group, layers.element, of),
    body,
  );

  /** @param {Picture["buttons"][number]} shown */
  function button({ key, label, open }) {
    const made =
      buttons.get(key) ?? element("button", { type: "button", "aria-label": `Show ${label}` }, label);
    buttons.set(key, made);
    setAttribute(made, "aria-pressed", String(open));
    made.onclick = () => onPanel(key, !open);
    return made;
  }

  /** Have another panel show what was pressed. @param {import("../panels/panel.js").Panel} panel @param {number} value */
  function pick({ picks }, value) {
    if (!picks) return;
    onPanel(picks.panel, true);
    onNumber(picks.panel, picks.name, value);
    panels.get(picks.panel)?.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  /** @param {import("../panels/panel.js").Row} row */
  function section(row) {
    const made =
      panels.get(row.panel.key) ??
      createPanel(row.panel, {
        onLegend: (place) => onLegend(row.panel, place),
        onNumber: (name, value) => onNumber(row.panel.key, name, value),
        onPick: (value) => pick(row.panel, value),
      });
    panels.set(row.panel.key, made);
    made.show(row);
    return made.element;
  }

  return {
    /** @param {Picture} picture */
    show({ buttons: shown, layers: { count, chosen }, of: words, rows, search: found }) {
      setAttribute(host, "hidden", shown.length === 0);
      inOrder(group, shown.map(button));
      layers.show(
        Array.from({ length: count }, (_, layer) => ({ value: layer, label: `${layer + 1}` })),
        chosen,
      );
      setAttribute(layers.element, "hidden", count < 2);
      setText(of, words);
      if (found) search ??= createSearch(reach, onSearch);
      inOrder(body, [...rows.map(section), ...(found && search ? [search.element] : [])]);
      if (found) search?.show(found);
    },
    destroy: () => search?.destroy(),
  };
}

/** Have a host hold just these. @param {HTMLElement} host @param {HTMLElement[]} wanted */
function inOrder(host, wanted) {
  const same =
    wanted.length === host.children.length && wanted.every((node, at) => host.children[at] === node);
  if (!same) host.replaceChildren(...wanted);
}
