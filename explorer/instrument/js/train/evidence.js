// What the area "Why" shows of a state: which panels are open, and what stands in them. No page.

import { queryOf } from "../choice/address.js";
import { entriesOf } from "../choice/choice.js";
import { server } from "../choice/server.js";
import { instrument, openPanels, panelsOf } from "./panels.js";
import { endOf, alignmentSeries } from "./series.js";
import { settingText, taskOf } from "./tasks.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./series.js").Lane} Lane */
/** What is drawn of the alignment. @typedef {"cosines"|"agreements"} Aligned */
/**
 * The chart of the alignment, with what stands around it.
 * @typedef {{title: string, sentence: string, limits: string, missing: string, note: string,
 *   kinds: {options: {value: Aligned, label: string}[], chosen: Aligned}, chart:
 *   import("./chart.js").Picture}} Alignment
 */

export const SEARCH = "line_search"; // the key of the instrument
const ALONG = {
  title: { text: "length of the step, in lengths of all weights", standoff: 4 },
  unifiedhovertitle: { text: "%{x:.2g} of the weights" },
  type: "log",
  range: [-3, Math.log10(2)],
  tickmode: "array",
  tickvals: [0.001, 0.01, 0.1, 1],
  ticktext: ["0.001", "0.01", "0.1", "1"],
};
const KINDS = /** @type {{value: Aligned, label: string}[]} */ ([
  { value: "cosines", label: "Cosine" },
  { value: "agreements", label: "Signs" },
]);
const SCALES = /** @type {{[kind in Aligned]: import("./chart.js").Scale}} */ ({
  cosines: { kind: "cosine", title: "", chance: null, banded: false },
  agreements: { kind: "share", title: "", chance: null, banded: false },
});

/** @param {State} state @param {Lane[]} lanes @returns {import("./why.js").Picture} */
export function whyOf(state, lanes) {
  const task = taskOf(state.choice);
  const open = openPanels(task, state.panels);
  const searches = state.panels[SEARCH] ?? false;
  return {
    buttons: [
      ...panelsOf(task).map((panel) => ({ key: panel.key, open: open.includes(panel) })),
      { key: SEARCH, open: searches },
    ].map((button) => ({ ...button, label: instrument(button.key).label })),
    layers: layersOf(state),
    of: netOf(state, lanes),
    rows: open.map((panel) => rowOf(state, lanes, panel)),
    search: searches ? searchOf(state, lanes) : null,
  };
}

/**
 * What was found along the rules' steps.
 * @param {State} state
 * @param {Lane[]} lanes
 * @returns {import("./search.js").Picture}
 */
function searchOf({ view, requests }, lanes) {
  const { label, sentence, limits } = instrument(SEARCH);
  const made = requests[SEARCH]?.run === view.id ? requests[SEARCH] : null;
  const answer = made?.answer ?? {};
  const series = lanes.flatMap(({ key, label: name, colour }) => {
    const { distances: x, losses: y } = answer[key] ?? {};
    return x ? [{ name, rule: key, ends: true, colour, x, y }] : [];
  });
  const title = made ? `${label}, at step ${made.step}` : label;
  return {
    title,
    sentence,
    limits,
    again: !made || made.step !== view.status.step || "message" in answer,
    chart: {
      run: `${view.id} ${made?.step}`,
      scale: { kind: "decades", title: "loss", chance: null, banded: false },
      series,
      steps: 0,
      along: ALONG,
      words: [`${title}.`, ...wordsOf(series)].join(" "),
      empty: answer.message ?? (made ? "Asking …" : "Not measured yet"),
      legend: "",
    },
  };
}

/**
 * Of how many layers something is measured, and which is shown: the last one unless another is chosen.
 * @param {State} state
 */
export function layersOf({ choice, view, layer }) {
  const measured = Object.values(view.status.snapshot?.measured.alignment ?? {}).find(Boolean);
  const count = measured?.cosines.length ?? settingText(choice, "hidden").split(",").length;
  return { count, chosen: Math.min(layer ?? count - 1, count - 1) };
}

/**
 * Which net the pictures are of, where there are several of a rule.
 * @param {State} state
 * @param {Lane[]} lanes
 */
export function netOf({ view }, lanes) {
  const { snapshot } = view.status;
  if (!snapshot || snapshot.seeds === 1) return "";
  const seeds = lanes.map(({ key }) => snapshot.seed[key]).filter((seed) => typeof seed === "number");
  const [first] = seeds;
  if (first === undefined) return "";
  if (seeds.every((seed) => seed === first)) return `Pictures of seed ${first}`;
  const named = lanes.flatMap(({ key, label }) =>
    typeof snapshot.seed[key] === "number" && snapshot.seed[key] !== Math.min(...seeds)
      ? [`${label} of seed ${snapshot.seed[key]}`]
      : [],
  );
  return `Pictures of seed ${Math.min(...seeds)}; ${named.join(", ")}: the first that is finite`;
}

/**
 * @param {State} state
 * @param {Lane[]} lanes
 * @param {import("./panel.js").Panel} panel
 * @returns {import("./panel.js").Row}
 */
function rowOf(state, lanes, panel) {
  const { choice, view } = state;
  const { snapshot } = view.status;
  const { label, sentence, limits } = instrument(panel.key);
  const { op, rules } = entriesOf(choice);
  const { chosen: layer, count } = layersOf(state);
  const cells = lanes.map((lane, index) => {
    const measured = snapshot?.measured[panel.key]?.[lane.key] ?? null;
    const { parameters } = choice;
    const seen = {
      measured,
      snapshot,
      lane,
      op,
      rule: rules[index],
      parameters,
      task: taskOf(choice),
      layer,
    };
    return {
      lane,
      picture: measured && panel.picture(seen),
      empty: emptyOf(snapshot, lane),
      answer: answerOf(state, panel, lane),
      carry: measured && carryOf(state, panel, seen),
    };
  });
  return {
    panel,
    title: panel.layered && count > 1 ? `${label}, layer ${layer + 1}` : label,
    sentence,
    limits,
    missing: snapshot?.unmeasured[panel.key] ?? "",
    pressed: pressedOf(state, panel),
    cells,
  };
}

/**
 * What stands in the place of a picture.
 * @param {*} snapshot
 * @param {Lane} lane
 */
function emptyOf(snapshot, { key }) {
  if (!snapshot) return "Appears with the first step";
  const diverged = snapshot.diverged[key];
  return typeof diverged === "number" ? `Diverged at step ${diverged}` : "Not measured yet";
}

/**
 * The way to Explore with the data of a rule, on the range that they have.
 * @param {State} state
 * @param {import("./panel.js").Panel} panel
 * @param {import("./panel.js").Seen} seen
 * @returns {import("./panel.js").Carry|null}
 */
function carryOf({ choice, view }, { data }, seen) {
  if (!data) return null;
  const { lane, layer, task } = seen;
  const { edges, counts } = data(seen);
  const of = `data of ${lane.label}, ${task.label}, layer ${layer + 1}, step ${view.status.step}`;
  const range = /** @type {[number, number]} */ ([edges[0], edges[edges.length - 1]]);
  return {
    address: `${server("")}?${queryOf({ ...choice, range })}`,
    label: `Show behind the curves: the ${of}`,
    data: { of, edges, counts },
  };
}

/**
 * Of which entry of a panel's legend the answer is shown.
 * @param {State} state
 * @param {import("./panel.js").Panel} panel
 */
function pressedOf({ requests, view }, { request = "", legend = [] }) {
  const made = requests[request];
  if (!made || made.run !== view.id) return null;
  return legend.findIndex(({ numbers }) =>
    Object.entries(numbers ?? { none: 0 }).every(([name, value]) => made.numbers[name] === value),
  );
}

/**
 * What the server answered of a rule, if it was asked.
 * @param {State} state
 * @param {import("./panel.js").Panel} panel
 * @param {Lane} lane
 * @returns {import("./panel.js").Answer|null}
 */
function answerOf({ requests, view }, { request = "" }, { key }) {
  const made = requests[request];
  if (!made || made.run !== view.id) return null;
  const { answer, step } = made;
  if (!answer) return { words: "Asking …", formula: "" };
  if (answer.message) return { words: answer.message, formula: "" };
  if (!answer[key]) return { words: `Step ${step}: no unit of this layer.`, formula: "" };
  const { unit, example, words } = answer[key];
  return { words: `Step ${step}, unit ${unit + 1}, example ${example + 1}:`, formula: words };
}

/** @param {State} state @param {Lane[]} lanes @returns {Alignment} */
export function alignmentOf(state, lanes) {
  const { view, aligned } = state;
  const { snapshot, steps } = view.status;
  const { label, sentence, limits } = instrument("alignment");
  const { chosen: layer, count } = layersOf(state);
  const series = snapshot ? alignmentSeries(aligned, layer, snapshot, lanes) : [];
  const missing = snapshot?.unmeasured.alignment ?? "";
  const title = count > 1 ? `Why: ${label.toLowerCase()}, layer ${layer + 1}` : `Why: ${label.toLowerCase()}`;
  return {
    title,
    sentence,
    limits,
    missing,
    note: withoutGradient(series, lanes, snapshot),
    kinds: { options: KINDS, chosen: aligned },
    chart: {
      run: `${view.id} ${aligned} ${layer}`,
      scale: SCALES[aligned],
      series,
      steps: steps || Number(settingText(state.choice, "steps")),
      words: [`${title}, over steps.`, ...wordsOf(series)].join(" "),
      empty:
        missing ||
        (series.length ? "No gradient to compare" : "The alignment appears here with the first step"),
      legend: "",
    },
  };
}

/**
 * Of which rules there is no gradient to compare.
 * @param {import("./series.js").Series[]} series
 * @param {Lane[]} lanes
 * @param {*} snapshot
 */
function withoutGradient(series, lanes, snapshot) {
  if (!series.length || !snapshot.measured_steps.length) return "";
  const known = new Set(series.filter(({ y }) => Number.isFinite(y[y.length - 1])).map(({ rule }) => rule));
  const none = lanes.filter(({ key }) => !known.has(key) && series.some(({ rule }) => rule === key));
  return none.length ? `No gradient: ${none.map(({ label }) => label).join(", ")}` : "";
}

/** @param {import("./series.js").Series[]} series */
function wordsOf(series) {
  return series.map((each) => {
    const end = endOf(each);
    return `${each.name}: ${end ? end.y.toFixed(2) : "no gradient"}.`;
  });
}
