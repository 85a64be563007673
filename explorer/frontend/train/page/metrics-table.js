// One row a rule: what its gradient does, in numbers.

import { keyed } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { formatShare, formatShort } from "../../formula/numbers.js";

/** @import { Gradients, Snapshot } from "../state/records.js" */
/** @import { LegendEntry } from "../state/series.js" */
/**
 * A column: its name, its meaning, and its text for a rule; "–" where there is nothing yet.
 * @typedef {{name: string, meaning: string, text: (snapshot: Snapshot, key: string, said: Said) => string}} Column
 * Values of rules from elsewhere on the page, by key: the score on held-out data, and the alignment.
 * @typedef {{judged: Record<string, string>, aligned: Record<string, string>}} Said
 * The table: ``judged`` is null where no data are held out; ``several`` says whether a rule has several seeds.
 * @typedef {{lines: LegendEntry[], snapshot: Snapshot|null, judged: Said["judged"]|null, aligned: Said["aligned"],
 *   several: boolean}} Picture
 */

const NONE = "–";

/** @type {Column[]} */
const COLUMNS = [
  {
    name: "Held-out",
    meaning: "The score on data that no net is trained on: mean and standard deviation over the seeds.",
    text: (_snapshot, key, { judged }) => judged[key] ?? NONE,
  },
  {
    name: "Loss",
    meaning: "The quantity that training minimises, on the examples of the last step.",
    text: lossText,
  },
  {
    name: "Alignment",
    meaning: "The present value of its curve in the alignment chart: the cosine, or the share of signs.",
    text: (_snapshot, key, { aligned }) => aligned[key] ?? NONE,
  },
  gradientColumn("w1 moved", "How far the first layer's weights, w1, are from where they started.", (g) =>
    formatShort(g.w1_moved),
  ),
  gradientColumn("‖∇w1‖", "The norm of the gradient of the first layer's weights.", (g) => formatShort(g.w1)),
  gradientColumn("‖∇w‖, last layer", "The norm of the gradient of the last layer's weights.", (g) =>
    formatShort(g.w2),
  ),
  gradientColumn(
    "Passed on, layer 1",
    "The size of what the rule of layer 1 returns, in that of g: 0 blocks it, 1 is straight-through.",
    (g) => (g.passed === null ? NONE : `× ${formatShort(g.passed)}`),
  ),
  gradientColumn(
    "Blocked, layer 1",
    "The share of inputs of layer 1's op at which the rule makes a gradient 0: “0 by the rule” of layer 1 under Why.",
    (g) => formatShare(g.blocked),
  ),
  gradientColumn(
    "Idle units, layer 1",
    "The share of units of layer 1 that get no gradient from any example; – where the op stands on weights.",
    (g) => (g.idle_units === null ? NONE : formatShare(g.idle_units)),
  ),
];

/**
 * @param {string} name
 * @param {string} meaning
 * @param {(gradients: Gradients) => string} text
 * @returns {Column}
 */
function gradientColumn(name, meaning, text) {
  return {
    name,
    meaning,
    text({ gradients }, key) {
      const one = gradients[key];
      return one ? text(one) : NONE;
    },
  };
}

/** @param {Snapshot} snapshot @param {string} key */
function lossText(snapshot, key) {
  const step = snapshot.diverged[key];
  if (typeof step === "number") return `diverged at ${step}`;
  const loss = snapshot.loss[key];
  return typeof loss === "number" ? formatShort(loss) : NONE;
}

/** The table of rules. @param {HTMLElement} host */
export function createRows(host) {
  const heads = COLUMNS.map(({ name, meaning }) => element("th", { scope: "col", title: meaning }, name));
  const head = element("tr", {}, element("th", { scope: "col" }, "Rule"), ...heads);
  const body = element("tbody", {});
  const terms = COLUMNS.flatMap(({ name, meaning }) => [element("dt", {}, name), element("dd", {}, meaning)]);
  const meanings = element(
    "details",
    { class: "meanings" },
    element("summary", {}, "What these words mean"),
    element("dl", {}, ...terms),
  );
  const caption = element("caption", {});
  host.append(element("table", {}, caption, element("thead", {}, head), body), meanings);
  const rows = keyed(body, createRow, ({ line }) => line.key);

  return {
    /** @param {Picture} picture */
    show({ lines, snapshot, judged, aligned, several }) {
      setText(caption, several ? "All numbers are means of a rule's seeds." : "");
      host.classList.toggle("judged", judged !== null);
      const said = { judged: judged ?? {}, aligned };
      rows.show(lines.map((line) => ({ line, snapshot, said })));
    },
  };
}

/**
 * A row; a press on its name holds the rule lifted.
 * @typedef {{line: LegendEntry, snapshot: Snapshot|null, said: Said}} Row
 * @param {Row} row
 */
function createRow({ line: { key } }) {
  const name = element("button", { class: "holder" });
  const cells = COLUMNS.map((column) => element("td", { "data-name": column.name }));
  const row = element("tr", { "data-rule": key }, element("th", { scope: "row" }, name), ...cells);
  return {
    element: row,
    /** @param {Row} row */
    show({ line: { label, colour }, snapshot, said }) {
      row.style.setProperty("--colour", colour);
      setText(name, label);
      setAttribute(name, "title", label);
      const known = snapshot && key in snapshot.losses ? snapshot : null;
      cells.forEach((cell, index) => setText(cell, known ? COLUMNS[index].text(known, key, said) : NONE));
    },
  };
}
