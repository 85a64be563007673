// The section Formula where there is no server: what came along in MathML, or Python in the browser says of own
// formulas, with the chosen numbers below it.

import { entriesOf, isRandom, lossOf, settingsOf } from "../../choice/choice.js";
import { catalogue, isOwn } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { mathElement } from "../../elements/math.js";
import { shownName } from "../../formula/controls.js";
import { sampleCurves, valuesOf } from "../../formula/curves.js";
import { floatText, singleText } from "../../formula/python.js";
import { readingIndices } from "./readings.js";
import { held } from "../../formula/records.js";
import { cellText } from "./table.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Entry, Op, Rule } from "../../formula/entry.js" */
/**
 * The files of explorer/site/formulas.py; numbers are those of ``math``. The last keys of ``torch`` and
 * ``learned`` are names of parameters that learn, or "".
 * @typedef {{lead: string, forward: Record<string, number>,
 *   torch: Record<string, Record<string, number>>, rules: Record<string, number>,
 *   learned: Record<string, Record<string, Record<string, [number, string][]>>>,
 *   symbols: Record<string, number>, math: import("../../elements/math.js").MathData[]}} Formulas
 * @typedef {{confirm: import("../../choice/confirm.js").Confirm|null,
 *   readFormulas: () => Promise<Formulas>, ask: import("./code.js").AskOwn|null}} FormulaReach
 */

const GONE = "The formulas could not be loaded.";
const COMPUTED =
  "The derivative of the op itself, as the browser computes it, beside the rules: at even steps and around " +
  "each kink.";
const DEFAULT = "default"; // the rule that torch's own derivative is

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store} & FormulaReach} options
 */
export function createFormulas(host, { store, confirm, readFormulas, ask }) {
  const boxes = element("div");
  const lead = element("p");
  const table = element("table");
  const frame = element(
    "div",
    { class: "rows", tabindex: 0, role: "region", "aria-label": "Readings" },
    table,
  );
  const rest = element("p");
  const body = element("div", { class: "formula-section" }, boxes, lead, frame, rest);
  const confirmation = confirm?.({
    onAnswer: (answer, choice) => read(answer.curves, choice, true),
    onStatus: (status) => status === "computed" && compute(),
  });
  let known = /** @type {Formulas|null} */ (null);
  let set = /** @type {{names: string, formulas: Formulas}|null} */ (null); // by Python, the last
  let turn = 0;
  host.append(body);

  /** @param {Choice} choice */
  async function changed(choice) {
    body.hidden = choice.section !== "formula";
    if (body.hidden) return confirmation?.drop();
    const mine = ++turn;
    known ??= await readFormulas().catch(() => null);
    if (mine !== turn) return undefined;
    const theirs = set?.names === namesOf(choice) ? set.formulas : null;
    draw(theirs ?? known, choice, known ? "" : GONE);
    if (!theirs) void drawOwn(choice, mine);
    return confirmation ? confirmation.ask(withTorchs(choice)) : compute();
  }

  /** @param {Formulas|null} formulas @param {Choice} choice @param {string} note */
  function draw(formulas, choice, note) {
    const message = note ? [element("p", { role: "status" }, note)] : [];
    boxes.replaceChildren(...message, ...(formulas ? boxesOf(formulas, choice) : []));
    for (const line of boxes.querySelectorAll(".math"))
      if (line.scrollWidth > line.clientWidth) line.tabIndex = 0;
  }

  /** Own formulas stand as they were written until Python has set them. @param {Choice} choice @param {number} mine */
  async function drawOwn(choice, mine) {
    const keys = keysOf(choice);
    if (!ask || ![keys.op, ...keys.rules].some(isOwn)) return;
    const put = (/** @type {Formulas|null} */ formulas, note = "") =>
      mine === turn && draw(formulas, choice, note);
    try {
      const formulas = await ask("formulas", keys, (words) => put(known, words));
      set = { names: namesOf(choice), formulas };
      put(formulas);
    } catch (error) {
      put(known, `${/** @type {Error} */ (error).message}.`);
    }
  }

  function compute() {
    const choice = store.now;
    const { op, rules } = entriesOf(withTorchs(choice));
    const settings = { ...settingsOf(choice), learns: choice.learns, loss: lossOf(choice) };
    read(sampleCurves({ op, rules }, settings), choice, false);
  }

  /** @param {*} curves @param {Choice} choice @param {boolean} torchs whether the numbers are torch's */
  function read(curves, choice, torchs) {
    const indices = readingIndices(curves, choice.range);
    const most = catalogue().limits.readings;
    const text = curves.x instanceof Float32Array ? singleText : floatText;
    const others = entriesOf(store.now).rules.filter(({ key }) => key !== DEFAULT);
    const columns = [curves.y, curves.gradients[DEFAULT], ...others.map(({ key }) => curves.gradients[key])];
    const row = (/** @type {number} */ at) => [
      text(curves.x[at]),
      ...columns.map((values) => cellText(values?.[at] ?? NaN)),
    ];
    const said = torchs && known ? known.lead : COMPUTED;
    setText(lead, isRandom(choice) ? `${catalogue().drawn.readings} ${said}` : said);
    table.replaceChildren(
      element("thead", {}, line("th", titles(torchs, others))),
      element("tbody", {}, ...indices.slice(0, most).map((at) => line("td", row(at)))),
    );
    const more = `The first ${most} of ${indices.length} rows: narrow the range to see the others.`;
    setText(rest, indices.length > most ? more : "");
  }

  const stop = store.follow((choice, { phase }) => void (phase === "settled" && changed(choice)));
  return {
    destroy() {
      stop();
      confirmation?.drop();
    },
  };
}

/** @param {Choice} choice */
function keysOf({ op, rules }) {
  return { op, rules: rules.map(({ key }) => key) };
}

/** Op and rules of a choice as one text. @param {Choice} choice */
function namesOf(choice) {
  return JSON.stringify(keysOf(choice));
}

/** The choice with torch's own derivative among its rules. @param {Choice} choice @returns {Choice} */
function withTorchs(choice) {
  const others = choice.rules.filter(({ key }) => key !== DEFAULT);
  return { ...choice, rules: [{ key: DEFAULT, slot: 0, hidden: false }, ...others] };
}

/**
 * The headings of the columns: labels, and keys where a label is taken.
 * @param {boolean} torchs
 * @param {Rule[]} rules
 */
function titles(torchs, rules) {
  const names = ["x", "y", torchs ? "torch" : "op's own"];
  for (const { key, label } of rules) names.push(names.includes(label) ? key : label);
  return names;
}

/** @param {"td"|"th"} kind @param {string[]} texts */
function line(kind, texts) {
  const scope = kind === "th" ? { scope: "col" } : {};
  return element("tr", {}, ...texts.map((text) => element(kind, scope, text)));
}

/** A box for the op and one for each rule. @param {Formulas} known @param {Choice} choice */
function boxesOf(known, choice) {
  const { op, rules } = entriesOf(choice);
  const values = valuesOf(op, null, choice.parameters);
  const first = box(`Forward: ${op.label}`, [
    formula(known, held(known.forward, op.key), `y = ${op.formula}`),
    ...valueLine(known, values),
    element("p", {}, about(op)),
  ]);
  return [first, ...rules.map((rule) => ruleBox(known, choice, op, rule))];
}

/** @param {Formulas} known @param {Choice} choice @param {Op} op @param {Rule} rule */
function ruleBox(known, choice, op, rule) {
  const all = valuesOf(op, rule, choice.parameters);
  const own = Object.fromEntries(rule.parameters.map((each) => [shownName(each), all[each.name]]));
  const torchs = held(known.torch, op.key) ?? {};
  const number = rule.formula === null ? ofLearning(torchs, choice) : held(known.rules, rule.key);
  // The parameters that learn by the rule: those it declares, and the chosen one.
  const learned = ofLearning(held(held(known.learned, op.key) ?? {}, rule.key) ?? {}, choice) ?? [];
  return box(rule.label, [
    formula(known, number, `gradient = ${rule.formula ?? op.autograd}`),
    ...learned.flatMap(([formulaOf, text]) => [formula(known, formulaOf, ""), element("p", {}, text)]),
    ...valueLine(known, own),
    element("p", {}, about(rule)),
  ]);
}

/**
 * The value for the chosen parameter that learns, or else for none.
 * @template T
 * @param {Record<string, T>} by
 * @param {Choice} choice
 */
function ofLearning(by, { learns }) {
  return held(by, learns) ?? held(by, "");
}

/** @param {string} title @param {Node[]} content */
function box(title, content) {
  return element("section", { class: "box" }, element("h3", {}, title), ...content);
}

/**
 * A formula that came along, or its text.
 * @param {Formulas} known
 * @param {number|undefined} number
 * @param {string} text
 */
function formula({ math }, number, text) {
  const content = number === undefined ? element("code", {}, text) : mathElement(math[number]);
  return element("div", { class: "math" }, content);
}

/** Parameters with their values. @param {Formulas} known @param {Record<string, number>} values */
function valueLine({ math, symbols }, values) {
  const pairs = Object.entries(values).flatMap(([name, value], index) => {
    const number = held(symbols, name);
    const symbol = number === undefined ? [["mi", name]] : math[number].slice(2);
    const between = index
      ? [
          ["mo", ","],
          ["mspace", { width: "1em" }],
        ]
      : [];
    return [...between, ...symbol, ["mo", "="], ...numberMath(value)];
  });
  const whole = () => mathElement(["math", { display: "block" }, ...pairs]);
  return pairs.length ? [element("div", { class: "math" }, whole())] : [];
}

/** A number as people write it: 1.5, or 3·10⁻⁴. @param {number} value */
function numberMath(value) {
  const [digits, power] = floatText(Math.abs(value)).replace(/\.0$/, "").split("e");
  const sign = value < 0 ? [["mo", { form: "prefix" }, "−"]] : [];
  if (power === undefined) return [...sign, ["mn", digits]];
  const exponent =
    Number(power) < 0 ? ["mrow", ["mo", "−"], ["mn", String(-Number(power))]] : ["mn", String(Number(power))];
  return [...sign, ["mn", digits], ["mo", "⋅"], ["msup", ["mn", "10"], exponent]];
}

/** Purpose, note and source of an op or a rule. @param {Entry} entry */
function about({ purpose, note, source }) {
  return [purpose, note, source && `Source: ${source}.`].filter(Boolean).join("\n");
}
