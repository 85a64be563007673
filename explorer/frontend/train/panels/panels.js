// The panels of the area "Why", as Python declares them, and their pictures.

import { isStochastic } from "../../choice/choice.js";
import { findEntry, findRuleForOp } from "../../choice/entries.js";
import { findKeysInForce } from "../state/branches.js";
import { findInstrument, formatQuestion } from "../state/instruments.js";
import { getCurrentValues } from "../state/series.js";
import { sampleRule } from "../state/small-curves.js";
import { OVER } from "../state/status.js";
import { getSelectedTask } from "../state/tasks.js";

/** @import { Panel } from "../state/instruments.js" */
/** @import { Snapshot } from "../state/records.js" */
/** @import { LegendEntry } from "../state/series.js" */
/** @import { State } from "../state/state.js" */
/**
 * The picture of a measurement. ``blocks``: drawn one below the other; ``words``: a description for screen readers;
 * ``legend``: replaces the first text of the panel's legend. The page adds the rule's ``curve``, the ``steps`` of line
 * charts, the text colour as a pixel (``ink``) and the index of the example ``picked`` in another panel, or null.
 * @typedef {{words: string, blocks: import("./picture.js").Block[], legend?: string, curve:
 *   import("../widgets/svg-paths.js").Point[], steps: ArrayLike<number>, ink: number, picked: number|null}} Picture
 */

const OBJECT_INSTRUMENTS = ["way", "net", "reads"]; // keys of instruments for the drawing of the net, always requested
const BASIS = ["causes", "inputs", "regions"]; // also always requested, if they apply
const MANY_PLANES = 3; // with so many rules only one has its regions measured and drawn, next to the net

/** Return the panels that apply to the selected task. @param {State["choice"]} choice */
export function getSuitablePanels(choice) {
  const holds = { "": true, learns: Boolean(choice.training.learn), draws: isStochastic(choice) };
  const panels = getSelectedTask(choice).panels.map(
    (key) => /** @type {Panel} */ (findInstrument(key).panel),
  );
  return panels.filter(({ when }) => holds[when]);
}

/**
 * Return the panels that the user has opened or that are open by default and have not been closed.
 * @param {State["choice"]} choice
 * @param {Object<string, boolean>} left panels that the user has opened or closed, by key
 */
export function openPanels(choice, left) {
  return getSuitablePanels(choice).filter(({ key, opens }) => left[key] ?? opens);
}

/**
 * Return the index of the rule whose regions are drawn next to the net: the last one that the user has pointed at or
 * focused, at first the first one other than autograd's. Returns -1 if the regions of all rules are drawn: those of
 * few rules, and of a run that is over.
 * @param {Pick<State, "choice"|"plane"|"view">} state
 */
export function findPlaneRule({ choice: { rules }, plane, view }) {
  if (rules.length < MANY_PLANES || OVER.includes(view.status.state)) return -1;
  const pointed = rules.findIndex(({ key }) => key === plane);
  return pointed < 0 ? rules.findIndex(({ key }) => key !== "default") : pointed;
}

/**
 * List the measurements to receive with the run's events: those for open panels or, once the run is over, for all
 * panels, because the server may soon delete the run.
 * @param {State} state
 */
export function listRequests(state) {
  const { choice, panels: left, numbers, view, why, evidence = true } = state;
  const isOver = OVER.includes(view.status.state);
  const wanted = isOver ? getSuitablePanels(choice) : evidence ? openPanels(choice, left) : [];
  const rulePanel = why ? view.status.lines[why]?.panel : "";
  const isRequested = (/** @type {Panel} */ panel) =>
    wanted.includes(panel) || panel.key === rulePanel || BASIS.includes(panel.key);
  const isForAll = (/** @type {Panel} */ panel) =>
    panel.key !== "regions" || panel.key === rulePanel || wanted.includes(panel);
  const requested = getSuitablePanels(choice).filter(isRequested);
  return [
    "alignment",
    ...OBJECT_INSTRUMENTS,
    ...requested.map((panel) =>
      formatQuestion(panel.key, isForAll(panel) ? numbers[panel.key] : { rule: findPlaneRule(state) + 1 }),
    ),
  ];
}

/**
 * Return an instrument's picture of one rule, or null before it is measured.
 * @param {Pick<State, "choice"|"ink">} state @param {Snapshot|null} snapshot
 * @param {{key: string, line: LegendEntry, layer?: number, points?: import("../state/branches.js").Point[], picked?:
 *   number|null}} of ``key``: the instrument's key; ``layer``: its index; ``points``: branch points of the run;
 *   ``picked``: index of the example picked in another panel
 * @returns {Picture|null}
 */
export function getPicture({ choice, ink }, snapshot, { key, line, layer = 0, points = [], picked = null }) {
  const pictures = /** @type {Picture[]|null|undefined} */ (snapshot?.measured[key]?.[line.key]);
  if (!snapshot || !pictures) return null;
  const picture = pictures[Math.min(layer, pictures.length - 1)];
  const ends = picture.blocks.find(({ curve }) => curve)?.ends;
  const now = findKeysInForce(points, snapshot.step, { op: choice.op, rule: line.key });
  const op = findEntry("op", now.op);
  const parameters = ends && { ...choice.parameters, ...getCurrentValues(snapshot, line.key, layer) };
  const curve = ends ? sampleRule(op, findRuleForOp(op, now.rule), parameters, ends) : [];
  return { ...picture, curve, steps: snapshot.measured_steps, ink, picked };
}
