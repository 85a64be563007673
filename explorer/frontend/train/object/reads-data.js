// Examples next to the drawn net: images, table rows or points of a plane, and which of them each rule's net classifies
// correctly.

import { capitalize, formatShort } from "../../formula/numbers.js";
import { findPlaneRule, getPicture } from "../panels/panels.js";
import { suggestRemedy } from "../state/remedies.js";
import { isTableMissing, getSelectedTask } from "../state/tasks.js";
import { share } from "../widgets/svg-paths.js";
import { shortenNames } from "./names.js";

/** @import { LegendEntry } from "../state/series.js" */
/** @import { Snapshot } from "../state/records.js" */
/** @import { State } from "../state/state.js" */
/**
 * Examples and their classification. ``points``: x, y and class of points in a plane; ``examples``: images or table
 * rows as bytes; ``zero``: the byte at the zero level of bars, null for images; ``long``: whether there are many
 * columns; ``titles``: tooltips with the class of each example and the predictions; ``rules``: which examples each
 * rule's net classifies correctly, empty before the first step; ``planes``: the predicted classes of a plane's points;
 * ``scatter``: predictions of numbers.
 * @typedef {{question: string, caption: string, points: [number, number, number][], examples: Uint8Array[], titles:
 *   string[], scatter: Scatter|null, zero: number|null, long: boolean, rules: {line: LegendEntry, right: boolean[]}[],
 *   planes: Plane[], ink: number}} Reads
 * @typedef {{line: LegendEntry, picture: import("../panels/panels.js").Picture}} Plane the class that one rule's net
 *   assigns to each point of a plane
 * @typedef {{ends: [string, string], dots: {line: LegendEntry, at: [number, number][]}[]}} Scatter predicted against
 *   true numbers, as fractions of a common range; ``ends``: its ends as text
 */

const MAX_EXAMPLES = 24; // maximum number of examples next to a chart, and of table rows
const FEW_COLUMNS = 16; // examples with more columns are drawn wider
const MAX_NAMES = 60; // maximum letters in a list of a table's columns or classes
const EMPTY = {
  points: [],
  examples: [],
  zero: null,
  long: false,
  rules: [],
  planes: [],
  question: "",
  titles: [],
  scatter: null,
};
/** The ends of a question about one rule, and about several if it differs. */
const AIMS = {
  image: ["read these images"],
  rows: ["tell these rows apart"],
  points: ["tell the two kinds apart"],
  numbers: ["bring the loss down", "lower the loss most"],
  table: ["learn your table"],
};

/**
 * Return the examples next to the chart, with each rule's predictions. Returns null if there are none.
 * @param {State} state @param {Snapshot|null} measured the snapshot of the displayed step
 * @param {Snapshot|null} before the snapshot of the first step @param {LegendEntry[]} lines
 * @param {boolean} begun whether a run has started @returns {Reads|null}
 */
export function buildReads(state, measured, before, lines, begun) {
  const planes = begun ? planesOf(state, measured, lines) : [];
  const more = findPlaneRule(state) < 0 ? "" : " Point at a rule to see its regions.";
  if (planes.length) {
    const { legend = "Colours: the class that a net sees there" } = planes[0].picture;
    return { ...EMPTY, caption: `${capitalize(legend)}.${more}`, planes, ink: state.ink };
  }
  const now = measured?.measured.reads ?? before?.measured.reads;
  const record = now && Object.values(now).find((each) => each?.values.length);
  if (!record) return begun ? null : makePreview(state);
  const reads = record.classes.length > 0;
  if (begun && !reads) return record.aims.length ? makeScatterPicture(state, now, record, lines) : null;
  const isImage = getSelectedTask(state.choice).kind === "image";
  const examples = splitExamples(record, begun || !isImage);
  const part = examples.length < record.of ? `First ${examples.length} of` : "All";
  const bars = isImage ? "" : shortenNames(record.labels.inputs, MAX_NAMES);
  const aim = reads ? (isImage ? AIMS.image : AIMS.rows) : AIMS.numbers;
  return {
    ...EMPTY,
    question: begun ? "" : getTrainingQuestion(state.choice, aim),
    caption: begun
      ? `${part} ${record.of}${record.judged ? " held out" : ""}: ● right ○ wrong${bars && `; bars: ${bars}`}`
      : makeCaption(record, isImage),
    examples,
    titles: reads ? titleExamples(begun ? now : {}, record, lines, examples.length) : [],
    zero: isImage ? null : record.zero,
    long: !isImage && record.width > FEW_COLUMNS,
    rules: begun ? rightOf(now, record, lines, examples.length) : [],
    ink: state.ink,
  };
}

/**
 * Return the class that each rule's net assigns to the points of a plane, for all rules or, if there are many, for one.
 * @param {State} state @param {Snapshot|null} measured null before the first step @param {LegendEntry[]} lines
 * @returns {Plane[]}
 */
function planesOf(state, measured, lines) {
  const known = lines.flatMap((line) => {
    const picture = getPicture(state, measured, { key: "regions", line });
    return picture ? [{ line, picture }] : [];
  });
  const only = findPlaneRule(state);
  if (only < 0) return known;
  const named = [state.highlighted, state.choice.rules[only].key];
  const drawn = named.flatMap((key) => known.filter(({ line }) => line.key === key));
  return [...drawn, ...known].slice(0, 1);
}

/**
 * Split measured examples into one array of bytes each.
 * @param {*} record the measurement @param {boolean} few whether to return at most ``MAX_EXAMPLES``
 */
function splitExamples({ values, width }, few) {
  const all = values.length / width;
  const count = few ? Math.min(MAX_EXAMPLES, all) : all;
  return Array.from({ length: count }, (_, at) => values.subarray(at * width, (at + 1) * width));
}

/**
 * Return for each measured rule which examples its net classifies correctly.
 * @param {Object<string, *>} now measurements by rule @param {*} known the examples with their classes
 * @param {LegendEntry[]} lines @param {number} count number of examples
 */
function rightOf(now, { classes }, lines, count) {
  return lines.flatMap((line) => {
    const result = now[line.key];
    const right = Array.from({ length: count }, (_, at) => result?.read[at] === classes[at]);
    return result ? [{ line, right }] : [];
  });
}

/**
 * Return a tooltip for each example of a table: its class, and the predictions. Returns [] for other examples.
 * @param {Object<string, *>} now measurements by rule @param {*} known the examples with their classes
 * @param {LegendEntry[]} lines @param {number} count number of examples
 */
function titleExamples(now, { classes, labels: { names, target } }, lines, count) {
  if (!names.length) return [];
  return Array.from({ length: count }, (_, at) => {
    const read = lines.flatMap(({ key, label }) =>
      now[key] ? [`${label}: ${names[now[key].read[at]]}`] : [],
    );
    return [`${target}: ${names[classes[at]]}`, ...read].join("\n");
  });
}

/**
 * Return predicted against true numbers, for a table whose target is a number.
 * @param {State} state @param {Object<string, *>} now measurements by rule
 * @param {*} known the examples with their targets @param {LegendEntry[]} lines @returns {Reads}
 */
function makeScatterPicture({ ink }, now, { aims, labels: { target, unit } }, lines) {
  const known = lines.filter(({ key }) => now[key]);
  const [low, high] = [Math.min(...aims), Math.max(...aims)];
  const toShare = (/** @type {number} */ value) => Math.min(Math.max(share(value, low, high), 0), 1);
  const dots = known.map((line) => ({
    line,
    at: Array.from(aims, (aim, at) => [toShare(aim), toShare(now[line.key].guesses[at])]),
  }));
  const ends = [low, high].map((value) => formatShort(unit[0] + unit[1] * value));
  const caption = `${target} of ${aims.length} held-out rows: predicted (up) against true (across), ${ends.join(" to ")}.`;
  const scatter = /** @type {Scatter} */ ({ ends, dots });
  return { ...EMPTY, caption, scatter, ink };
}

/** @param {*} known @param {boolean} isImage */
function makeCaption({ judged, width, columns, labels }, isImage) {
  if (isImage) return "No net sees them while it learns.";
  const all =
    width < columns ? `the first ${width} of its ${columns.toLocaleString("en-US")} columns` : "its columns";
  const bars = shortenNames(labels.inputs, MAX_NAMES) || all;
  return `Each is ${judged ? "a row that no net sees while it learns" : "an example"}: ${bars} as bars.`;
}

/** @param {State} state @returns {Reads|null} */
function makePreview({ choice, table, ink }) {
  const { kind, picture } = getSelectedTask(choice);
  if (isTableMissing(choice, table)) {
    const caption = "Paste one above: its rows appear here, their columns as bars.";
    return { ...EMPTY, question: getTrainingQuestion(choice, AIMS.table), caption, ink };
  }
  if (kind !== "plane" || !picture || !("points" in picture)) return null;
  const caption = "Each point is an example.";
  return {
    ...EMPTY,
    question: getTrainingQuestion(choice, AIMS.points),
    caption,
    points: picture.points,
    ink,
  };
}

/**
 * Return the question that training will answer, or what to change if the net cannot be trained.
 * @param {State["choice"]} choice @param {string[]} aim one of ``AIMS``
 */
function getTrainingQuestion(choice, [one, several = one]) {
  const count = choice.rules.length;
  const remedy = suggestRemedy(choice);
  if (remedy) return remedy;
  if (count === 1) return `Will this rule ${one}?`;
  return `Which of the ${count === 2 ? "two" : `${count} rules`} will ${several}?`;
}
