// The view model of the area "Why": its open panels with their contents.

import { toQuery } from "../../choice/address.js";
import { toServerUrl } from "../../choice/server.js";
import { VALUES } from "../charts/axes.js";
import { labelLines, parseBranches } from "../state/branches.js";
import { isLost, getLayerChoice, describeNets } from "../state/layers.js";
import { findInstrument } from "../state/instruments.js";
import { getPicture, openPanels, getSuitablePanels } from "../panels/panels.js";
import { getRuleKeys } from "../state/history.js";
import { SEARCH, buildLineSearch } from "./line-search-data.js";
import { getSelectedTask } from "../state/tasks.js";

/** @import { Panel } from "../state/instruments.js" */
/** @import { LegendEntry } from "../state/series.js" */
/** @import { State } from "../state/state.js" */

const NO_NET = "No net is left to look at: every rule has diverged.";

/**
 * Return the contents of the area "Why": measurements of the nets that explain the curves.
 * @param {State} state @param {LegendEntry[]} lines @returns {import("./view.js").Picture}
 */
export function buildEvidence(state, lines) {
  const unmeasured = state.view.status.snapshot?.unmeasured ?? {};
  const isShown = (/** @type {Panel} */ { key }) => state.panels[key] || !unmeasured[key]; // an opened one says why
  const open = openPanels(state.choice, state.panels).filter(isShown);
  const searches = state.panels[SEARCH] ?? false;
  return {
    buttons: [
      ...getSuitablePanels(state.choice).map((panel) => ({ key: panel.key, open: open.includes(panel) })),
      { key: SEARCH, open: searches },
    ].map((button) => ({ ...button, label: findInstrument(button.key).label })),
    layers: getLayerChoice(state),
    of: describeNets(state, lines),
    rows: open.map((panel) => buildPanelRow(state, lines, panel)),
    search: searches ? buildLineSearch(state, lines) : null,
  };
}

/**
 * Return the panel that supports the statement about the rule whose button "Why?" is pressed. With two rules, it shows
 * both, else the rule with the one that it is compared with. Returns null if no button is pressed; ``row`` is null if a
 * chart or the scores by seed support the statement.
 * @param {State} state @param {LegendEntry[]} lines @param {Object<string, string>} titles titles of charts
 */
export function buildRulePanel(state, lines, titles) {
  const line = lines.find(({ key }) => key === state.why);
  const statement = line && state.view.status.lines[line.key];
  if (!line || !statement) return null;
  const panel = getSuitablePanels(state.choice).find(({ key }) => key === statement.panel);
  const { view } = state;
  const { key, label, colour } = line;
  const isShown = (/** @type {LegendEntry} */ other) =>
    lines.length === 2 || [key, statement.other].includes(other.key);
  const title = titles[statement.panel];
  const seeds = statement.panel === "seeds" ? listSeeds(view.status.snapshot, lines) : null;
  return {
    key,
    label,
    colour,
    why: statement.why,
    chart: title ? `Look at its curve under “${title}”.` : (seeds?.words ?? ""),
    isAligned: statement.panel === "alignment",
    seeds: seeds?.rules ?? [],
    row: panel ? buildPanelRow(state, lines.filter(isShown), panel) : null,
  };
}

/**
 * Return the final score of each seed for each rule, between the lowest and the highest of all.
 * @param {import("../state/records.js").Snapshot|null} snapshot @param {LegendEntry[]} lines
 */
function listSeeds(snapshot, lines) {
  if (!snapshot) return null;
  const isShare = snapshot.metric === "accuracy";
  const format = (/** @type {number} */ value) =>
    isShare ? `${(100 * value).toFixed(1)} %` : VALUES.fit(value);
  const scores = lines.map(({ key }) => Array.from(snapshot.score[key] ?? []).filter(Number.isFinite));
  const ends = [Math.min(...scores.flat()), Math.max(...scores.flat())];
  const width = ends[1] - ends[0];
  const toDot = (/** @type {number} */ value) => ({
    left: width ? (value - ends[0]) / width : 0.5,
    text: format(value),
  });
  const range = width ? `from ${ends.map(format).join(" to ")}` : `${format(ends[0])} for all`;
  const words = `Each dot is the held-out score of a seed, ${range}; a larger dot of several.`;
  return { words, rules: lines.map((line, at) => ({ line, dots: scores[at].map(toDot) })) };
}

/**
 * @param {State} state @param {LegendEntry[]} lines @param {Panel} panel @returns {import("../panels/panel.js").Row}
 */
function buildPanelRow(state, lines, panel) {
  const { choice, view } = state;
  const { snapshot } = view.status;
  const { label, sentence, limits, arguments: instrumentArgs } = findInstrument(panel.key);
  const points = parseBranches(view.status.recorded?.branch, getRuleKeys(choice));
  const { chosen: layer, count, names } = getLayerChoice(state);
  const picked = getPicked(state, panel);
  const cells = labelLines(lines, points, snapshot?.step ?? 0).map((line) => {
    const picture = getPicture(state, snapshot, { key: panel.key, line, layer, points, picked });
    return {
      line,
      picture,
      empty: !snapshot
        ? "Nothing before the first step"
        : isLost(snapshot, line)
          ? `Diverged at step ${snapshot.diverged[line.key]}`
          : "Not measured yet",
      answer: getAnswerAbout(state, panel, line),
      carry: createCarryLink(state, picture, line, names[layer]),
    };
  });
  const legend = cells.find(({ picture }) => picture?.legend)?.picture?.legend;
  return {
    panel,
    title: panel.layered && count > 1 ? `${label}, ${names[layer]}` : label,
    sentence: picked === null ? sentence : `${sentence} ${panel.picks?.hint}`,
    limits,
    legend: panel.legend.map(({ text }, index) => (!index && legend) || text),
    missing:
      snapshot?.unmeasured[panel.key] ??
      (cells.every(({ line, picture }) => !picture && isLost(snapshot, line)) ? NO_NET : ""),
    pressed: findPressed(state, panel),
    numbers: instrumentArgs.map(({ name }) => ({
      value: state.numbers[panel.key]?.[name] ?? 0,
      most: snapshot?.most[panel.key]?.[name] ?? null,
    })),
    cells,
  };
}

/**
 * Return the index of the example picked in one panel for display in another, or null if none can be picked.
 * @param {State} state @param {Panel} panel
 */
function getPicked({ choice, numbers }, { picks }) {
  if (!picks || !getSuitablePanels(choice).some(({ key }) => key === picks.panel)) return null;
  return numbers[picks.panel]?.[picks.name] ?? 0;
}

/**
 * Return a link that plots a histogram behind the curves on Explore, or null if the picture has no histogram that
 * includes the means of its bins.
 * @param {State} state @param {import("../panels/panels.js").Picture|null} picture @param {LegendEntry} line
 * @param {string} layer its name @returns {import("../panels/panel.js").Carry|null}
 */
function createCarryLink({ choice, view }, picture, line, layer) {
  const histogram = picture?.blocks.find(({ means }) => means);
  if (!histogram) return null;
  const { counts, means, bins, ends: range, outside: note } = histogram;
  const { label } = getSelectedTask(choice);
  const source = `data of ${line.label}, ${label}, ${layer}, step ${view.status.step}`;
  const edges = Array.from({ length: bins + 1 }, (_, at) => range[0] + (at / bins) * (range[1] - range[0]));
  return {
    address: `${toServerUrl("")}?${toQuery({ ...choice, range })}`,
    label: `Show behind the curves: the ${source}`,
    data: { of: source, edges, counts: Array.from(counts), means: Array.from(means), note },
  };
}

/**
 * Return the index of the legend's button whose answer is displayed: −1 if it has no button, null without answer.
 * @param {State} state @param {Panel} panel
 */
function findPressed({ requests, view }, { asks, legend }) {
  const latest = requests[asks];
  if (!latest || latest.run !== view.id) return null;
  return legend.findIndex(({ numbers }) =>
    Object.entries(numbers ?? { none: 0 }).every(([name, value]) => latest.numbers[name] === value),
  );
}

/**
 * Return the server's answer about one rule as text, or null if none was requested.
 * @param {State} state @param {Panel} panel @param {LegendEntry} line
 * @returns {import("../panels/panel.js").Answer|null}
 */
function getAnswerAbout({ requests, view }, { asks }, { key }) {
  const latest = requests[asks];
  if (!latest || latest.run !== view.id) return null;
  const { answer, step } = latest;
  if (!answer) return { words: "Asking …", formula: "" };
  if (answer.message) return { words: answer.message, formula: "" };
  if (!answer[key]) return { words: `Step ${step}: no unit of this layer.`, formula: "" };
  const { unit, example, words } = answer[key];
  return { words: `Step ${step}, unit ${unit + 1}, example ${example + 1}:`, formula: words };
}
