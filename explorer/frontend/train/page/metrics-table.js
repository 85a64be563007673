// The table below the chart, with one row of metrics per rule.

import { h, render } from "../../elements/render.js";
import { formatShort } from "../../formula/numbers.js";

/** @import { Snapshot } from "../state/records.js" */
/** @import { LegendEntry } from "../state/series.js" */
/**
 * The table of metrics.
 * @typedef {{name: string, meaning: string, text: (snapshot: Snapshot, key: string, said: Scores) => string}} Column
 *   its name, its meaning, and a function that returns the text of a rule's cell
 * @typedef {{judged: Record<string, string>, aligned: Record<string, string>}} Scores texts from other parts of the
 *   page by rule: held-out score and alignment
 * @typedef {{lines: LegendEntry[], snapshot: Snapshot|null, judged: Scores["judged"]|null, aligned: Scores["aligned"],
 *   several: boolean}} Picture ``judged``: null without held-out data; ``several``: whether there are several seeds
 */

const MISSING = "–";

/** @type {Column[]} */
const COLUMNS = [
  {
    name: "Held-out",
    meaning: "The score on data that no net is trained on: mean and standard deviation over the seeds.",
    text: (_snapshot, key, { judged }) => judged[key] ?? MISSING,
  },
  {
    name: "Loss",
    meaning: "The quantity that training minimises, on the examples of the last step.",
    text: formatLoss,
  },
  {
    name: "Alignment",
    meaning: "The present value of its curve in the alignment chart: the cosine, or the share of signs.",
    text: (_snapshot, key, { aligned }) => aligned[key] ?? MISSING,
  },
  makeNormColumn(
    "w1 moved",
    "How far the first layer's weights, w1, have moved from their start.",
    "w1_moved",
  ),
  makeNormColumn("‖∇w1‖", "The norm of the gradient of the first layer's weights.", "w1"),
  makeNormColumn("‖∇w‖, last layer", "The norm of the gradient of the last layer's weights.", "w2"),
];

/** @param {string} name @param {string} meaning @param {"w1_moved"|"w1"|"w2"} field its number @returns {Column} */
function makeNormColumn(name, meaning, field) {
  return {
    name,
    meaning,
    text({ gradients }, key) {
      const values = gradients[key];
      return values ? formatShort(values[field]) : MISSING;
    },
  };
}

/** @param {Snapshot} snapshot @param {string} key */
function formatLoss(snapshot, key) {
  const step = snapshot.diverged[key];
  if (typeof step === "number") return `diverged at ${step}`;
  const loss = snapshot.loss[key];
  return typeof loss === "number" ? formatShort(loss) : MISSING;
}

/** Create the table, with one row per rule. @param {HTMLElement} host */
export function createMetricsTable(host) {
  return {
    /** @param {Picture} picture */
    show({ lines, snapshot, judged, aligned, several }) {
      host.classList.toggle("judged", judged !== null);
      const said = { judged: judged ?? {}, aligned };
      const heads = COLUMNS.map(({ name, meaning }) => h("th", { scope: "col", title: meaning }, name));
      const rows = lines.map((line) => makeRow(line, snapshot, said));
      const terms = COLUMNS.map(({ name, meaning }) => [h("dt", {}, name), h("dd", {}, meaning)]);
      const caption = h("caption", {}, several && "All numbers are means of a rule's seeds.");
      const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Rule"), heads));
      const meanings = [h("summary", {}, "What these words mean"), h("dl", {}, terms)];
      const details = h("details", { class: "meanings text-small" }, meanings);
      render(host, h("table", {}, caption, head, h("tbody", {}, rows)), details);
    },
  };
}

/**
 * Return the row of a rule. Pressing its name keeps the rule highlighted.
 * @param {LegendEntry} line @param {Snapshot|null} snapshot null before the first step @param {Scores} said
 */
function makeRow({ key, label, colour }, snapshot, said) {
  const current = snapshot && key in snapshot.losses ? snapshot : null;
  return h(
    "tr",
    { key, "data-rule": key, "--colour": colour },
    h("th", { scope: "row" }, h("button", { class: "holder quiet", title: label }, label)),
    COLUMNS.map(({ name, text }) =>
      h("td", { "data-name": name }, current ? text(current, key, said) : MISSING),
    ),
  );
}
