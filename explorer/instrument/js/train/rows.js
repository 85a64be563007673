// One row a rule: what its gradient does, in numbers.

import { element, setAttribute, setText } from "../elements/dom.js";
import { shareText, shortText } from "../formula/numbers.js";

/** @typedef {import("./series.js").Lane} Lane */
/**
 * A column: its name, what it means, and what stands in it for a rule; "–" where there is nothing yet.
 * @typedef {{name: string, meaning: string, text: (snapshot: *, key: string, judged: Record<string,
 *   string>) => string}} Column
 */

const NONE = "–";

/** @type {Column[]} */
const COLUMNS = [
  {
    name: "Held-out",
    meaning: "The score on data that no net is trained on: mean and standard deviation over the seeds.",
    text: (_snapshot, key, judged) => judged[key] ?? NONE,
  },
  { name: "Loss", meaning: "What training makes smaller, on the examples of the last step.", text: lossText },
  gradientColumn("w1 moved", "How far the first layer's weights, w1, are from where they started.", (g) =>
    shortText(g.w1_moved),
  ),
  gradientColumn("‖∇w1‖", "The norm of the gradient of the first layer's weights.", (g) => shortText(g.w1)),
  gradientColumn("‖∇w2‖", "The norm of the gradient of the last layer's weights.", (g) => shortText(g.w2)),
  gradientColumn(
    "Passed on",
    "The mean factor the rule passes the gradient on with: 0 blocks it, 1 is straight-through.",
    (g) => (g.passed === null ? NONE : `× ${shortText(g.passed)}`),
  ),
  gradientColumn("Blocked", "The share of pre-activations whose gradient the rule makes 0.", (g) =>
    shareText(g.blocked),
  ),
  gradientColumn("Idle units", "The share of hidden units that get no gradient from any example.", (g) =>
    shareText(g.idle_units),
  ),
];

/** @param {string} name @param {string} meaning @param {(gradients: *) => string} text @returns {Column} */
function gradientColumn(name, meaning, text) {
  return {
    name,
    meaning,
    text: (snapshot, key) => (snapshot.gradients[key] ? text(snapshot.gradients[key]) : NONE),
  };
}

/** @param {*} snapshot @param {string} key */
function lossText(snapshot, key) {
  const step = snapshot.diverged[key];
  if (typeof step === "number") return `diverged at ${step}`;
  const loss = snapshot.loss[key];
  return typeof loss === "number" ? shortText(loss) : NONE;
}

/**
 * The table of rules; the row that is chosen decides whose pre-activations are shown.
 * @param {HTMLElement} host
 * @param {(key: string) => void} onChoose
 */
export function createRows(host, onChoose) {
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
  host.append(element("table", {}, element("thead", {}, head), body), meanings);
  /** @type {Map<string, ReturnType<typeof createRow>>} */
  const rows = new Map();

  /** @param {Lane[]} lanes */
  function removeOthers(lanes) {
    for (const [key, row] of rows) {
      if (lanes.some((lane) => lane.key === key)) continue;
      row.element.remove();
      rows.delete(key);
    }
  }

  return {
    /**
     * @param {{lanes: Lane[], snapshot: *, chosen: string, judged: Record<string, string>|null}} picture
     *   ``judged`` says how each rule does on held-out data; null where none is
     */
    show({ lanes, snapshot, chosen, judged }) {
      removeOthers(lanes);
      host.classList.toggle("judged", judged !== null);
      lanes.forEach((lane, index) => {
        const row = rows.get(lane.key) ?? createRow(() => onChoose(lane.key));
        rows.set(lane.key, row);
        if (body.children[index] !== row.element)
          body.insertBefore(row.element, body.children[index] ?? null);
        row.show(lane, lane.key === chosen, snapshot, judged ?? {});
      });
    },
  };
}

/** @param {() => void} onChoose */
function createRow(onChoose) {
  const name = element("button", {
    type: "button",
    class: "chooser",
    onclick: onChoose,
  });
  const cells = COLUMNS.map((column) => element("td", { "data-name": column.name }));
  const row = element("tr", {}, element("th", { scope: "row" }, name), ...cells);
  return {
    element: row,
    /**
     * @param {Lane} lane
     * @param {boolean} chosen
     * @param {*} snapshot
     * @param {Record<string, string>} judged
     */
    show({ key, label, colour }, chosen, snapshot, judged) {
      setText(name, label);
      setAttribute(name, "title", label);
      row.style.setProperty("--colour", colour);
      setAttribute(name, "aria-pressed", String(chosen));
      const known = snapshot && key in snapshot.losses;
      cells.forEach((cell, index) =>
        setText(cell, known ? COLUMNS[index].text(snapshot, key, judged) : NONE),
      );
    },
  };
}
