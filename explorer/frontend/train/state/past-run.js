// The run before the present one: its curves, which stay on the chart, and what has changed since.

import { getEntries } from "../../choice/choice.js";
import { getControlValue, getDisplayName, getEntryControls } from "../../formula/controls.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";
import { buildBranchedSeries, parseBranches, pointText } from "./branches.js";
import { getRecordedChoice, getRuleKeys } from "./history.js";
import { getSetting, getSettings, nameSetting, toDataKey } from "./tasks.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Measure, Series } from "./series.js" */
/** @import { State } from "./state.js" */
/**
 * What a run is trained with. ``parts``: the names of rules and branches; ``facts``: names and
 * values of the op, of settings and of parameters, by a key.
 * @typedef {{parts: string[], facts: Object<string, [string, string]>}} Description
 * @typedef {Description & {curves: {[measure in Measure]?: Series[]}, judged: Object<string, string>, data: string}}
 *   PastRun an earlier run as JSON data. ``curves``: with the slot of a rule as colour; ``judged``: scores as text, by
 *   rule; ``data``: the key of its training data
 */

/**
 * Return the run whose curves stay once another begins: the present one or, without one, that before it.
 * @param {State} state @returns {PastRun|null}
 */
export function takePast(state) {
  const { trained: choice, view, past } = state;
  const { snapshot, recorded, judged } = view.status;
  if (!choice || !snapshot?.step) return past;
  const slots = state.colours.map((_, slot) => String(slot));
  const getCurves = (/** @type {Measure} */ measure) =>
    buildBranchedSeries(measure, { choice, snapshot, recorded }, slots)
      .map(toPlainCurve)
      .filter(({ x }) => x.length > 0);
  const score = snapshot.metric ? getCurves("score") : [];
  return { ...describeRun(state), curves: { loss: getCurves("loss"), score }, judged, data: state.data };
}

/** Return a curve as JSON data, with its finite points only. @param {Series} series @returns {Series} */
function toPlainCurve({ name, rule, colour, ends, symbol, x, y }) {
  const finite = [...Array(y.length).keys()].filter((at) => Number.isFinite(y[at]));
  return { name, rule, colour, ends, symbol, x: finite.map((at) => x[at]), y: finite.map((at) => y[at]) };
}

/**
 * Return the earlier run if it has the same training data, but other settings than the present run.
 * @param {State} state
 * @returns {{sentence: string, judged: Object<string, string>, getCurves: (measure: Measure) => Series[]}|null}
 *   ``sentence``: what has changed since
 */
export function findPast(state) {
  const { choice, table, past, colours } = state;
  if (past?.data !== toDataKey(choice, table)) return null;
  const changes = describeChanges(past, describeRun(state));
  if (state.trained && !changes) return null; // its curves are those of the present run
  return {
    sentence: `Dotted curves: the run before.${changes && ` Since then: ${changes}.`}`,
    judged: past.judged,
    getCurves: (measure) =>
      (past.curves[measure] ?? []).map((curve) => ({ ...curve, colour: colours[Number(curve.colour)] })),
  };
}

/** Describe what has changed, as in "seeds 1 → 5", or return "". @param {Description} past @param {Description} now */
function describeChanges(past, now) {
  const changed = Object.entries(now.facts)
    .filter(([key, [, value]]) => key in past.facts && past.facts[key][1] !== value)
    .map(([key, [name, value]]) => `${name} ${past.facts[key][1]} → ${value}`);
  return [
    ...new Set(changed), // rules may share a parameter
    ...now.parts.filter((part) => !past.parts.includes(part)).map((part) => `${part} added`),
    ...past.parts.filter((part) => !now.parts.includes(part)).map((part) => `${part} removed`),
  ].join("; ");
}

/** Describe the present run or, without one, the settings. @param {State} state @returns {Description} */
function describeRun(state) {
  const choice = state.trained ? getRecordedChoice(state) : state.choice;
  const { op, rules } = getEntries(choice);
  const points = parseBranches(choice.training.branch, getRuleKeys(choice));
  const facts = [
    ["op", "op", op.label],
    ...getSettings()
      .filter(({ name, live }) => !live || name === "lr") // others change no curve
      .map((setting) => [setting.name, nameSetting(setting.name), formatSetting(choice, setting)]),
    ...[op, ...rules].flatMap((entry) =>
      getEntryControls(entry, op, rules).map((control) => {
        const name = getDisplayName(control.parameter);
        const value = writeMinus(formatNumber(getControlValue(choice.parameters, control)));
        return [`${entry.key} ${name}`, control.name === name ? name : `${name} of ${entry.label}`, value];
      }),
    ),
  ];
  return {
    parts: [...rules.map(({ label }) => label), ...points.map((point) => `branch at ${pointText(point)}`)],
    facts: Object.fromEntries(facts.map(([key, name, value]) => [key, [name, value]])),
  };
}

/** @param {Choice} choice @param {import("./tasks.js").Setting} setting */
function formatSetting(choice, { name, words }) {
  const text = getSetting(choice, name);
  const isNumber = text.trim() !== "" && Number.isFinite(Number(text));
  return isNumber ? writeMinus(String(Number(text))) : (words[text] ?? (text || "none"));
}
