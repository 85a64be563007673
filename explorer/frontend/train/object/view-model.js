// The view model of the net as an object: one example on its way, a lane a rule, held-out images. No page.

import { getEntries } from "../../choice/choice.js";
import { findEntry, findRuleForOp } from "../../choice/entries.js";
import { formatShort } from "../../formula/numbers.js";
import { labelLines, findKeysInForce, pointsOf } from "../state/branches.js";
import { keysOf } from "../state/history.js";
import { isLost } from "../state/layers.js";
import { getCurrentValues } from "../state/series.js";
import { sampleOp } from "../state/small-curves.js";
import { ACTIVE, OVER } from "../state/status.js";
import { getSetting, taskOf } from "../state/tasks.js";
import { panel as inputs } from "../panels/inputs.js";
import { canFold, leftOf, platesOf } from "./plates.js";
import { readsOf } from "./reads-data.js";

/** @import { Line, Snapshot } from "../state/records.js" */
/** @import { LegendEntry } from "../state/series.js" */
/** @import { State } from "../state/state.js" */
/** @import { Plate } from "./plates.js" */
/** @import { Reads } from "./reads-data.js" */
/**
 * A plate of a lane: its words, whether a gradient reaches it, and of an op what it sees with the rule's curve.
 * @typedef {{plate: Plate, words: string[], still: boolean, sees: *}} LanePlate
 * A band between two plates: what is left, null for nothing, and how it is written, "" where it is written before.
 * @typedef {{left: number|null, text: string, known: boolean}} Band
 * A lane: ``slot`` is that of its rule, ``why`` whether its evidence is open, null where there is none to open.
 * @typedef {{slot: number, line: LegendEntry, plates: LanePlate[], bands: Band[], said: string, score: string,
 *   why: boolean|null}} Lane
 * The net forward, drawn for one rule, of which ``of`` is the name once nets differ; null before it is known.
 * @typedef {{colour: string, of: string, plates: Plate[], canFold: boolean, open: boolean, isImage: boolean,
 *   record: *, curve: {x: number, y: number}[], ends: [number, number], op: string, ink: number}} Forward
 * The whole object.
 * @typedef {{plates: Plate[], lanes: Lane[], forward: Forward|null, reads: Reads|null, begun: boolean}} Picture
 */

const PRESSED = [...ACTIVE, "paused", ...OVER]; // at step 0 as well: what a press moves is in its place at once

/** @param {State} state @param {LegendEntry[]} lines @returns {Picture} */
export function objectOf(state, lines) {
  const { choice, view, first } = state;
  const run = view.status.snapshot;
  const measured = run?.measured.way ? run : null;
  const before = first?.answer?.snapshot ?? null;
  const snapshot = measured ?? before;
  const said = measured ? view.status.lines : (first?.answer?.lines ?? {});
  const begun = Boolean(run && run.step > 0) || PRESSED.includes(view.status.state);
  const layers = layersOf(snapshot) ?? getSetting(choice, "hidden").split(",").length + 1;
  const plates = platesOf(layers, state.unfolded);
  const points = pointsOf(view.status.recorded?.branch, keysOf(choice));
  const going = labelLines(lines, points, run?.step ?? 0);
  return {
    plates,
    begun,
    lanes: going.map((line, at) =>
      laneOf(state, { line, slot: choice.rules[at].slot, snapshot, plates, points, said: said[line.key] }),
    ),
    forward: snapshot && forwardOf(state, snapshot, { lines: going, plates, layers, points }),
    reads: readsOf(state, measured, before, going, begun),
  };
}

/** The layers of weights of the nets that were measured; undefined before. @param {Snapshot|null} snapshot */
function layersOf(snapshot) {
  return Object.values(snapshot?.measured.way ?? {}).find(Boolean)?.reached.length;
}

/**
 * @param {State} state
 * @param {{line: LegendEntry & {onward: string}, slot: number, snapshot: Snapshot|null, plates: Plate[], said?: Line,
 *   points: import("../state/branches.js").Point[]}} of
 * @returns {Lane}
 */
function laneOf(state, { line, slot, snapshot, plates, points, said }) {
  const { choice, view, why } = state;
  const { site } = taskOf(choice);
  const record = snapshot?.measured.way?.[line.key] ?? null;
  const left = leftOf(plates, record?.passed ?? [], site.per_example);
  const lost = isLost(view.status.snapshot, line);
  const isFinite = hasFinite(record);
  const text = lost ? (view.status.words[indexOf(choice, line)] ?? "") : (said?.text ?? "");
  return {
    slot,
    line,
    plates: plates.slice(1, -1).map((plate) => lanePlate(state, line, snapshot, record, plate, points)),
    bands: left.slice(1).map((share, at) => ({
      left: share,
      known: isFinite,
      text: isFinite && isBehindOp(plates[at + 2], site.per_example) ? `× ${timesText(share ?? 0)}` : "",
    })),
    said: line.onward && text ? `Goes on with ${line.onward}. ${text}` : text,
    score: view.status.judged[line.key] ?? "",
    why: said && view.status.step > 0 ? why === line.key : null,
  };
}

/** Whether a way was measured, and each gradient on it is a number. @param {*} record */
function hasFinite(record) {
  return record !== null && Array.from(record.reached).every(Number.isFinite);
}

/** @param {State["choice"]} choice @param {LegendEntry} line */
function indexOf({ rules }, { key }) {
  return rules.findIndex((rule) => rule.key === key);
}

/** Whether the gradient has passed an op in a plate on its way back. @param {Plate} plate @param {boolean} isAlongTheWay */
function isBehindOp({ kind }, isAlongTheWay) {
  return kind === "op" || (kind === "fold" && isAlongTheWay);
}

/** A factor in three digits at most. @param {number} factor */
function timesText(factor) {
  if (factor >= 100) return formatShort(Math.round(factor));
  return String(Number(factor < 0.095 ? factor.toPrecision(2) : factor.toFixed(2)));
}

/**
 * @param {State} state
 * @param {LegendEntry} line
 * @param {Snapshot|null} snapshot
 * @param {*} record
 * @param {Plate} plate
 * @param {import("../state/branches.js").Point[]} points
 * @returns {LanePlate}
 */
function lanePlate(state, line, snapshot, record, plate, points) {
  const { kind, layer, folded } = plate;
  const of = (/** @type {number} */ at) => record?.reached[at] === 0 && record.moved[at] === 0;
  if (kind === "op") {
    const isDead = hasFinite(record) && !(record.passed[layer] > 0);
    return { plate, words: [], still: isDead, sees: seesOf(state, line, snapshot, layer, points) };
  }
  if (kind === "fold") {
    const all = Array.from({ length: folded }, (_, at) => layer + at);
    const words = [foldText(folded), all.every(of) ? "still" : ""];
    return { plate, words: words.filter(Boolean), still: all.every(of), sees: null };
  }
  const far =
    record && snapshot && snapshot.step > 0 && !of(layer)
      ? `by ${Number(record.moved[layer].toPrecision(3))}`
      : "";
  const words = [`w${layer + 1}`, of(layer) ? "still" : far];
  return { plate, words: words.filter(Boolean), still: of(layer), sees: null };
}

/** @param {number} count of layers */
export function foldText(count) {
  return `+ ${count} layer${count > 1 ? "s" : ""}`;
}

/**
 * What the op sees in a layer, behind the curve of a rule; null before it is measured.
 * @param {State} state
 * @param {LegendEntry} line
 * @param {Snapshot|null} snapshot
 * @param {number} layer
 * @param {import("../state/branches.js").Point[]} points
 */
function seesOf({ choice, ink }, line, snapshot, layer, points) {
  const measured = snapshot?.measured.inputs?.[line.key];
  if (!snapshot || !measured) return null;
  const now = findKeysInForce(points, snapshot.step, { op: choice.op, rule: line.key });
  const op = findEntry("op", now.op);
  return inputs.picture({
    measured,
    snapshot,
    line,
    layer,
    ink,
    op,
    rule: findRuleForOp(op, now.rule),
    parameters: choice.parameters,
    task: taskOf(choice),
    picked: null,
  });
}

/**
 * The net of the rule that is pointed at, else of the first through which a gradient reaches the first weights.
 * @param {State} state
 * @param {Snapshot} snapshot
 * @param {{lines: LegendEntry[], plates: Plate[], layers: number,
 *   points: import("../state/branches.js").Point[]}} of
 * @returns {Forward|null}
 */
function forwardOf({ choice, lifted, unfolded, ink }, snapshot, { lines, plates, layers, points }) {
  const records = snapshot.measured.net ?? {};
  const drawn = lines.filter(({ key }) => records[key]);
  const learns = (/** @type {LegendEntry} */ { key }) => snapshot.measured.way?.[key]?.reached[0] > 0;
  const line = drawn.find(({ key }) => key === lifted) ?? drawn.find(learns) ?? drawn[0];
  if (!line) return null;
  const record = /** @type {*} */ (records[line.key]);
  const now = findKeysInForce(points, snapshot.step, { op: choice.op, rule: line.key });
  const op = findEntry("op", now.op) ?? getEntries(choice).op;
  const edges = snapshot.measured.inputs?.[line.key]?.edges ?? [-3, 3];
  const ends = /** @type {[number, number]} */ ([edges[0], edges[edges.length - 1]]);
  const alike = snapshot.step === 0;
  const side = Math.sqrt(record.of);
  return {
    colour: alike ? "" : line.colour,
    of: alike || lines.length === 1 ? "" : line.label,
    plates,
    canFold: canFold(layers),
    open: unfolded,
    isImage: taskOf(choice).kind === "image" && Number.isInteger(side) && record.of === record.inputs.length,
    record,
    curve: sampleOp(op, { ...choice.parameters, ...getCurrentValues(snapshot, line.key, 0) }, ends),
    ends,
    op: op.inside,
    ink,
  };
}
