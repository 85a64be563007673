// One row a rule: what its gradient does, in numbers.

import { element, setAttribute, setText } from "../elements/dom.js";
import { shareText, shortText } from "../formula/numbers.js";

/** @typedef {{key: string, label: string, colour: string}} Rule */

const COLUMNS = /** @type {[string, string, (g: *) => string][]} */ ([
  ["w1 moved", "How far w1 is from where it started", (g) => shortText(g.w1_moved)],
  ["‖∇w1‖", "Norm of the gradient of w1", (g) => shortText(g.w1)],
  ["‖∇w2‖", "Norm of the gradient of w2", (g) => shortText(g.w2)],
  [
    "Passed on",
    "Mean factor the rule passes the gradient on with: 0 blocks, 1 is straight-through",
    (g) => (g.passed === null ? "–" : `× ${shortText(g.passed)}`),
  ],
  ["Blocked", "Share of pre-activations whose gradient the rule makes 0", (g) => shareText(g.blocked)],
  [
    "Idle units",
    "Share of hidden units that get no gradient from any example",
    (g) => shareText(g.idle_units),
  ],
]);

/**
 * The table of rules; the row that is chosen decides whose pre-activations are shown.
 * @param {HTMLElement} host
 * @param {(key: string) => void} onChoose
 */
export function createRows(host, onChoose) {
  const head = ["Rule", "Loss", ...COLUMNS.map(([name]) => name)].map((name, place) =>
    element("th", { scope: "col", title: place > 1 ? COLUMNS[place - 2][1] : null }, name),
  );
  const body = element("tbody", {});
  host.append(element("table", {}, element("thead", {}, element("tr", {}, ...head)), body));
  /** @type {Map<string, ReturnType<typeof createRow>>} */
  const rows = new Map();

  return {
    /** @param {Rule[]} rules @param {*} snapshot @param {string} chosen */
    show(rules, snapshot, chosen) {
      for (const [key, row] of rows) {
        if (rules.some((rule) => rule.key === key)) continue;
        row.element.remove();
        rows.delete(key);
      }
      rules.forEach((rule, place) => {
        const row = rows.get(rule.key) ?? createRow(() => onChoose(rule.key));
        rows.set(rule.key, row);
        if (body.children[place] !== row.element)
          body.insertBefore(row.element, body.children[place] ?? null);
        row.show(rule, snapshot, rule.key === chosen);
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
    title: "Show the pre-activations of this rule",
  });
  const cells = ["Loss", ...COLUMNS.map(([title]) => title)].map((title) =>
    element("td", { "data-name": title }),
  );
  const row = element("tr", {}, element("th", { scope: "row" }, name), ...cells);
  return {
    element: row,
    /** @param {Rule} rule @param {*} snapshot @param {boolean} chosen */
    show({ key, label, colour }, snapshot, chosen) {
      setText(name, label);
      row.style.setProperty("--colour", colour);
      setAttribute(name, "aria-pressed", String(chosen));
      const gradients = snapshot?.gradients[key];
      const texts = [
        lossText(snapshot, key),
        ...COLUMNS.map(([, , text]) => (gradients ? text(gradients) : "–")),
      ];
      cells.forEach((cell, place) => setText(cell, texts[place]));
    },
  };
}

/** @param {*} snapshot @param {string} key */
function lossText(snapshot, key) {
  const broken = snapshot?.diverged[key];
  if (typeof broken === "number") return `diverged at ${broken}`;
  const loss = snapshot?.loss[key];
  return typeof loss === "number" ? shortText(loss) : "–";
}
