// Selects the examples shown next to the net: images, table rows, or points of a plane with the nets' decisions.

import { getPicture } from "../panels/panels.js";
import { suggestRemedy } from "../state/remedies.js";
import { isTableMissing, getSelectedTask } from "../state/tasks.js";

/** @import { LegendEntry } from "../state/series.js" */
/** @import { Snapshot } from "../state/records.js" */
/** @import { State } from "../state/state.js" */
/**
 * Examples: ``rules`` says for each rule which examples it reads right, and is empty before the first step; ``zero`` is
 * the byte of the zero level of bars, null for images; ``long`` says whether there are many columns; ``planes`` are the
 * pictures of the classes that nets assign to each point of a plane.
 * @typedef {{question: string, caption: string, points: [number, number, number][], examples: Uint8Array[],
 *   zero: number|null, long: boolean, rules: {line: LegendEntry, right: boolean[]}[], planes: Plane[], ink: number}} Reads
 * @typedef {{line: LegendEntry, picture: import("../panels/panels.js").Picture}} Plane
 */

const MAX_EXAMPLES = 24; // maximum number of examples next to a chart, and of rows of a table
const FEW_COLUMNS = 16; // with more columns than this, examples are drawn wider
const MANY_PLANES = 3; // with so many rules only the highlighted one's plane is shown
const EMPTY = { points: [], examples: [], zero: null, long: false, rules: [], planes: [], question: "" };
/** @typedef {{one: string, several: string}} Aim the end of a question about one rule, or about several */
const makeAim = (/** @type {string} */ text) => ({ one: text, several: text });
const AIMS = {
  image: makeAim("read these images"),
  rows: makeAim("tell these rows apart"),
  points: makeAim("tell the two kinds apart"),
  numbers: { one: "bring the loss down", several: "lower the loss most" },
  table: makeAim("learn your table"),
};

/**
 * Return the examples that are shown next to the chart, and which of them each net reads right. Returns null if there
 * are none.
 * @param {State} state
 * @param {Snapshot|null} measured of the run
 * @param {Snapshot|null} before the first step
 * @param {LegendEntry[]} lines
 * @param {boolean} begun
 * @returns {Reads|null}
 */
export function buildReads(state, measured, before, lines, begun) {
  const planes = begun ? planesOf(state, measured, lines) : [];
  const more =
    planes.length < Math.min(lines.length, MANY_PLANES - 1) ? " Point at a rule to see its regions." : "";
  const caption = `Colours: the class that a net sees there.${more}`;
  if (planes.length) return { ...EMPTY, caption, planes, ink: state.ink };
  const now = measured?.measured.reads ?? before?.measured.reads;
  const record = now && Object.values(now).find((each) => each?.values.length);
  if (!record) return begun ? null : makePreview(state);
  const reads = record.classes.length > 0;
  if (begun && !reads) return null;
  const isImage = getSelectedTask(state.choice).kind === "image";
  const examples = splitExamples(record, begun || !isImage);
  const aim = reads ? (isImage ? AIMS.image : AIMS.rows) : AIMS.numbers;
  return {
    ...EMPTY,
    question: begun ? "" : getTrainingQuestion(state.choice, aim),
    caption: begun
      ? `First ${examples.length} of ${record.of}: ● right ○ wrong`
      : makeCaption(record, isImage),
    examples,
    zero: isImage ? null : record.zero,
    long: !isImage && record.width > FEW_COLUMNS,
    rules: begun ? rightOf(now, record, lines, examples.length) : [],
    ink: state.ink,
  };
}

/**
 * Build the pictures of the classes that the rules' nets assign to each point of a plane.
 * @param {State} state @param {Snapshot|null} measured @param {LegendEntry[]} lines @returns {Plane[]}
 */
function planesOf(state, measured, lines) {
  const known = lines.flatMap((line) => {
    const picture = getPicture(state, measured, { key: "regions", line });
    return picture ? [{ line, picture }] : [];
  });
  const isReached = (/** @type {Plane} */ { line }) => measured?.measured.way?.[line.key]?.reached[0] > 0;
  const first = known.find(({ line }) => line.key === state.lifted) ?? known.find(isReached) ?? known[0];
  return known.length < MANY_PLANES ? known : [first];
}

/**
 * Split the measured examples into one array of bytes per example.
 * @param {*} record
 * @param {boolean} few whether to limit them to ``MAX_EXAMPLES``
 */
function splitExamples({ values, width }, few) {
  const all = values.length / width;
  const count = few ? Math.min(MAX_EXAMPLES, all) : all;
  return Array.from({ length: count }, (_, at) => values.subarray(at * width, (at + 1) * width));
}

/** @param {Object<string, *>} now @param {*} known @param {LegendEntry[]} lines @param {number} count of examples */
function rightOf(now, { classes }, lines, count) {
  return lines.flatMap((line) => {
    const result = now[line.key];
    const right = Array.from({ length: count }, (_, at) => result?.read[at] === classes[at]);
    return result ? [{ line, right }] : [];
  });
}

/** @param {*} known @param {boolean} isImage */
function makeCaption({ judged, width, columns }, isImage) {
  if (isImage) return "No net sees them while it learns.";
  const bars =
    width < columns ? `the first ${width} of its ${columns.toLocaleString("en-US")} columns` : "its columns";
  return `Each is ${judged ? "a row that no net sees while it learns" : "an example"}: ${bars} as bars.`;
}

/**
 * Return examples to show before anything is measured: points, or a note on a missing table, otherwise null.
 * @param {State} state
 * @returns {Reads|null}
 */
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
 * @param {State["choice"]} choice
 * @param {Aim} aim
 */
function getTrainingQuestion(choice, { one, several }) {
  const count = choice.rules.length;
  const remedy = suggestRemedy(choice);
  if (remedy) return remedy;
  if (count === 1) return `Will this rule ${one}?`;
  return `Which of the ${count === 2 ? "two" : `${count} rules`} will ${several}?`;
}
