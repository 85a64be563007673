// The view model of the drawn net: the forward pass of one example, each rule's backward pass, and held-out examples.

import { getEntries } from "../../choice/choice.js";
import { findEntry } from "../../choice/entries.js";
import { formatShort } from "../../formula/numbers.js";
import { labelLines, findKeysInForce, parseBranches } from "../state/branches.js";
import { getRuleKeys } from "../state/history.js";
import { findPast } from "../state/past-run.js";
import { getCurrentValues } from "../state/series.js";
import { sampleOp } from "../state/small-curves.js";
import { ACTIVE, OVER } from "../state/status.js";
import { getSetting, getSelectedTask } from "../state/tasks.js";
import { getPicture } from "../panels/panels.js";
import { layOutHistogram } from "../widgets/histogram.js";
import { canFold, computeRemaining, listPlates } from "./plates.js";
import { buildReads } from "./reads-data.js";

/** @import { Line, Snapshot } from "../state/records.js" */
/** @import { LegendEntry } from "../state/series.js" */
/** @import { State } from "../state/state.js" */
/** @import { Plate } from "./plates.js" */
/** @import { Reads } from "./reads-data.js" */
/**
 * The contents of the drawn net.
 * @typedef {{plate: Plate, words: string[], still: boolean, sees: *}} LanePlate a part of the net in a backward pass;
 *   ``still``: no gradient reaches it; ``sees``: a histogram of the op's inputs with the rule's curve, or null
 * @typedef {{left: number|null, text: string, known: boolean}} Band the gradient between two parts of the net.
 *   ``left``: the fraction of it that is left, or null if nothing is; ``known``: whether it was measured
 * @typedef {{slot: number, line: LegendEntry, plates: LanePlate[], bands: Band[], said: string, score: string,
 *   before: string, why: boolean|null}} Lane the backward pass under one rule; ``said``: a sentence about it;
 *   ``before``: its score in the run before; ``why``: whether the evidence for this sentence is open, or null if there
 *   is none
 * @typedef {{colour: string, of: string, plates: Plate[], canFold: boolean, open: boolean, record: *, curve: {x:
 *   number, y: number}[], ends: [number, number], op: string, ink: number}} Forward the forward pass of one net.
 *   ``of``: the name of its rule, "" while all nets are equal; ``record``: a measurement by the instrument "net";
 *   ``curve``: the op's curve; ``ends``: the ends of its x axis
 * @typedef {{plates: Plate[], lanes: Lane[], forward: Forward|null, reads: Reads|null, begun: boolean}} Picture the
 *   whole drawing; ``begun``: whether a run has started
 */

const MOST = 4; // a higher curve is as high as its lane, and others are not lower for it
// states in which a run counts as started even at step 0, so that the layout does not jump later
const STARTED = [...ACTIVE, "paused", ...OVER];

/**
 * Return the contents of the drawn net, with the backward pass under each rule and the examples.
 * @param {State} state @param {LegendEntry[]} lines @returns {Picture}
 */
export function buildNetDrawing(state, lines) {
  const { choice, view, first } = state;
  const run = view.status.snapshot;
  const measured = run?.measured.way ? run : null;
  const before = first?.answer?.snapshot ?? null;
  const snapshot = measured ?? before;
  const statements = measured ? view.status.lines : (first?.answer?.lines ?? {});
  const hasBegun = Boolean(run && run.step > 0) || STARTED.includes(view.status.state);
  const way = Object.values(snapshot?.measured.way ?? {}).find(Boolean);
  const layers = way?.reached.length ?? getSetting(choice, "hidden").split(",").length + 1;
  const plates = listPlates(layers, state.unfolded);
  const points = parseBranches(view.status.recorded?.branch, getRuleKeys(choice));
  const going = labelLines(lines, points, run?.step ?? 0);
  const past = findPast(state)?.judged ?? {};
  const shared = { snapshot, plates, points, past, most: findMost(state, snapshot, going, points) };
  return {
    plates,
    begun: hasBegun,
    lanes: going.map((line, at) =>
      buildLane(state, { ...shared, line, slot: choice.rules[at].slot, said: statements[line.key] }),
    ),
    forward: snapshot && buildForwardPass(state, snapshot, { lines: going, plates, layers, points }),
    reads: buildReads(state, measured, before, going, hasBegun),
  };
}

/**
 * Return the height of the rules' curves in all lanes: the largest gradient, at most ``MOST``, so that drawings differ.
 * @param {State} state @param {Snapshot|null} snapshot @param {LegendEntry[]} lines
 * @param {import("../state/branches.js").Point[]} points branch points of the run
 */
function findMost(state, snapshot, lines, points) {
  const curves = lines.map(
    (line) => getPicture(state, snapshot, { key: "inputs", line, points })?.curve ?? [],
  );
  const values = curves.flatMap((curve) => curve.map(({ y }) => y)).filter(Number.isFinite);
  return Math.min(Math.max(1, ...values), MOST);
}

/**
 * @param {State} state
 * @param {{line: LegendEntry & {onward: string}, slot: number, snapshot: Snapshot|null, plates: Plate[], said?: Line,
 *   points: import("../state/branches.js").Point[], past: Object<string, string>, most: number}} of ``said``: a
 *   statement about the rule; ``points``: branch points of the run; ``past``: scores of the run before, by rule;
 *   ``most``: the height of the rule's curve, if it is not higher
 * @returns {Lane}
 */
function buildLane(state, { line, slot, snapshot, plates, points, past, said, most }) {
  const { choice, view, why } = state;
  const { site } = getSelectedTask(choice);
  const record = snapshot?.measured.way?.[line.key] ?? null;
  const text = said?.text ?? "";
  return {
    slot,
    line,
    plates: plates
      .slice(1, -1)
      .map((plate) => makeLanePlate(state, line, snapshot, record, plate, points, most)),
    bands: makeBands(record, plates, site.per_example),
    said: line.onward && text ? `Goes on with ${line.onward}. ${text}` : text,
    score: view.status.judged[line.key] ?? "",
    before: past[line.key] ?? "",
    why: said && view.status.step > 0 ? why === line.key : null,
  };
}

/**
 * Return how much gradient is left between neighbouring parts of the net.
 * @param {*} record a measurement by the instrument "way", or null @param {Plate[]} plates
 * @param {boolean} isBetweenLayers whether the op is between layers, not on weights @returns {Band[]}
 */
export function makeBands(record, plates, isBetweenLayers) {
  const known = hasFinite(record);
  const left = computeRemaining(plates, record?.passed ?? [], isBetweenLayers).slice(1);
  const opKinds = isBetweenLayers ? ["op", "fold"] : ["op"]; // parts in which the gradient has passed through an op
  return left.map((share, at) => ({
    left: share,
    known,
    text: known && opKinds.includes(plates[at + 2].kind) ? `${formatPercent(100 * (share ?? 0))}\u00a0%` : "",
  }));
}

/** @param {*} record a measurement by the instrument "way", or null */
function hasFinite(record) {
  return record !== null && Array.from(record.reached).every(Number.isFinite);
}

/** Return a percentage with as many digits as the lane's sentence has. @param {number} percent */
const formatPercent = (percent) => formatShort(Number(percent.toPrecision(percent < 100 ? 2 : 3)));

/**
 * Return one part of the net in the backward pass under a rule.
 * @param {Pick<State, "choice"|"ink">} state the state, which is not needed without a snapshot
 * @param {LegendEntry} line @param {Snapshot|null} snapshot null before the first step
 * @param {*} record a measurement by the instrument "way", or null @param {Plate} plate
 * @param {import("../state/branches.js").Point[]} points branch points of the run
 * @param {number} [most] the height of the rule's curve, if it is not higher @returns {LanePlate}
 */
export function makeLanePlate(state, line, snapshot, record, plate, points, most) {
  const { kind, layer, folded } = plate;
  const isStill = (/** @type {number} */ at) => record?.reached[at] === 0 && record.moved[at] === 0;
  if (kind === "op") {
    const isDead = hasFinite(record) && !(record.passed[layer] > 0);
    const picture = getPicture(state, snapshot, { key: "inputs", line, layer, points });
    const drawing = picture && layOutHistogram(/** @type {*} */ (picture.blocks[0]), picture.curve, most);
    return { plate, words: [], still: isDead, sees: drawing && { words: picture.words, ...drawing } };
  }
  const all = Array.from({ length: Math.max(folded, 1) }, (_, at) => layer + at);
  const still = all.every(isStill);
  const hasMoved = record && !still && snapshot !== null && snapshot.step > 0;
  const moved = hasMoved ? `by ${formatMoved(all.map((at) => record.moved[at]))}` : "";
  const name = `${formatEnds(all.map((at) => `w${at + 1}`))}${kind === "fold" ? " + op" : ""}`;
  const words = [name, still ? "still" : moved];
  return { plate, words: words.filter(Boolean), still, sees: null };
}

/** Return the range of the distances by which layers have moved. @param {number[]} distances */
function formatMoved(distances) {
  const sorted = distances.toSorted((one, other) => one - other);
  return formatEnds(sorted.map((each) => formatShort(Number(each.toPrecision(each < 1 ? 2 : 3)))));
}

/** Return the first and the last item, such as "w1–w3", or the only one. @param {(string|number)[]} items */
const formatEnds = (items) => [...new Set([items[0], items[items.length - 1]])].join("–");

/**
 * Return the forward pass of one net: that of the highlighted rule or else the first net whose gradient reaches the
 * first weights. Returns null if no net was measured.
 * @param {State} state @param {Snapshot} snapshot
 * @param {{lines: LegendEntry[], plates: Plate[], layers: number, points: import("../state/branches.js").Point[]}} of
 *   ``layers``: number of layers with weights; ``points``: branch points of the run
 * @returns {Forward|null}
 */
function buildForwardPass(state, snapshot, { lines, plates, layers, points }) {
  const { choice, highlighted, unfolded, ink } = state;
  const records = snapshot.measured.net ?? {};
  const available = lines.filter(({ key }) => records[key]);
  const isReached = (/** @type {LegendEntry} */ { key }) => snapshot.measured.way?.[key]?.reached[0] > 0;
  const line = available.find(({ key }) => key === highlighted) ?? available.find(isReached) ?? available[0];
  if (!line) return null;
  const record = /** @type {*} */ (records[line.key]);
  const now = findKeysInForce(points, snapshot.step, { op: choice.op, rule: line.key });
  const op = findEntry("op", now.op) ?? getEntries(choice).op;
  const ends = snapshot.measured.inputs?.[line.key]?.[0].blocks[0].ends ?? [-3, 3];
  const alike = snapshot.step === 0;
  return {
    colour: alike ? "" : line.colour,
    of: alike || lines.length === 1 ? "" : line.label,
    plates,
    canFold: canFold(layers),
    open: unfolded,
    record,
    curve: sampleOp(op, { ...choice.parameters, ...getCurrentValues(snapshot, line.key, 0) }, ends),
    ends,
    op: op.inside,
    ink,
  };
}
