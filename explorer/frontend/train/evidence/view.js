// The chart of alignment, and the area "Why": its panels, the buttons that open them, and the choice of a layer.

import { createChildren } from "../../elements/children.js";
import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { createTrainChart } from "../charts/chart.js";
import { createPanel } from "../panels/panel.js";
import { createToggleGroup } from "../widgets/toggle-group.js";

/**
 * The contents of the area. ``buttons``: one for each panel; ``of``: a note on which seed's nets are shown; ``rows``:
 * the open panels; ``search``: the line search, or null if closed.
 * @typedef {{buttons: {key: string, label: string, open: boolean}[], layers: {count: number, names: string[], chosen: number}, of:
 *   string, rows: import("../panels/panel.js").Row[], search: SearchPicture|null}} Picture
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
    show({ buttons, layers: { count, names, chosen }, of: netNote, rows, search: along }) {
      host.hidden = buttons.length === 0;
      const toggles = buttons.map(({ key, label, open }) => {
        const state = { "aria-label": `Show ${label}`, "aria-pressed": String(open) };
        return h("button", { key, ...state, onclick: () => onPanel(key, !open) }, label);
      });
      const group = { class: "switches flex-wrap", role: "group", "aria-label": "Shown below" };
      render(head, h("h2", {}, "Why"), h("div", group, toggles), layers.element, h("p", {}, netNote));
      const options = names.map((label, value) => ({ value, label }));
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

/**
 * The contents of the line search. ``measured``: whether there is a measurement; ``offer``: the label of the button
 * that measures, or "" if it is up to date.
 * @typedef {{title: string, sentence: string, limits: string, measured: boolean, offer: string, chart:
 *   import("../charts/chart.js").Picture}} SearchPicture
 */

/**
 * Create the chart of the line search.
 * @param {{plotly: string, onPoint: (rule: string|null) => void}} reach ``onPoint``: called with the rule at the
 *   pointer or null
 * @param {() => void} onAgain called to measure (again)
 */
function createSearch(reach, onAgain) {
  const frame = element("div", { class: "searched" });
  const section = element("section", { class: "why-panel line_search" });
  const chart = createTrainChart(frame, reach);
  return {
    element: section,
    /** @param {SearchPicture} picture */
    show({ title, sentence, limits, measured, offer, chart: drawing }) {
      setAttribute(section, "aria-label", title);
      frame.hidden = !measured;
      const texts = [h("h3", {}, title), h("p", {}, sentence), h("p", { class: "warning" }, limits)];
      render(section, h("header", {}, texts, offer && h("button", { onclick: onAgain }, offer)), frame);
      chart.draw(drawing);
    },
    destroy: chart.destroy,
  };
}

/**
 * Create the chart of alignment, the cosine between a rule's gradient and that of the net smoothed by noise, over the
 * steps of a training run.
 * @param {HTMLElement} host
 * @param {{plotly: string, onPoint: (rule: string|null) => void, onKind: (kind:
 *   import("../state/state.js").AlignmentMeasure) => void}} options ``onPoint``: called with the rule near the pointer,
 *   or null; ``onKind``: called with the measure to plot
 */
export function createAlignment(host, { plotly, onPoint, onKind }) {
  const kinds = createToggleGroup("Measure of alignment", onKind);
  const frame = element("div", { class: "aligned" });
  const smoothing = element("div", { class: "smoothing" });
  const chart = createTrainChart(frame, { plotly, onPoint });
  return {
    smoothing,
    /** @param {import("./alignment-data.js").Alignment} picture */
    show({ title, sentence, limits, note, kinds: { options, chosen }, missing, chart: drawing }) {
      const says = h("div", {}, h("p", {}, sentence), h("p", {}, limits));
      const details = h("details", { class: "explained text-small" }, h("summary", {}, "What it says"), says);
      render(
        host,
        h("div", { class: "titles flex-wrap" }, h("h2", {}, title), details, kinds.element),
        frame,
        h("p", { class: "missing text-small" }, missing),
        h("div", { class: "below" }, h("p", { class: "note text-small" }, note), smoothing),
      );
      kinds.show(options, chosen);
      setAttribute(host, "data-missing", missing !== "");
      if (!missing) chart.draw(drawing);
    },
    destroy: chart.destroy,
  };
}
