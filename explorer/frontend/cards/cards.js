// The list of cards for the op and each backward rule, with buttons that change the choice.

import { createCard } from "./card.js";
import * as choices from "../choice/choice.js";
import { getData } from "../choice/data.js";
import { getDrawing, isKeptSymmetric, putDrawing, setSymmetry } from "../choice/drawing.js";
import { togglePanel } from "../choice/learning-panel.js";
import { findContribution } from "../formula/contribution.js";
import { getControlValue, getDisplayName } from "../formula/controls.js";
import { mirrorLine } from "../formula/lines.js";
import { formatPassedShare, formatShort } from "../formula/numbers.js";
import { formatFourDigits } from "../formula/substitution.js";
import { computeShare } from "../measures/share.js";
import { createChildren } from "../elements/children.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { getCatalogue, isSuitable } from "../choice/entries.js";
import { createDialog } from "./dialog.js";
import { getSource } from "./options.js";
import { createPicker } from "./picker.js";

/** @import { Choice, ChosenRule } from "../choice/choice.js" */
/** @import { Drawing } from "../formula/lines.js" */
/**
 * The contents of a rule's card. ``isOnly``: whether it is the last rule, which cannot be removed.
 * @typedef {{rule: ChosenRule, state: import("./card.js").CardState, isOnly: boolean}} RuleCard
 */
/**
 * The first failed check of each rule, by slot.
 * @typedef {ReadonlyMap<number, {name?: string, sentence: string}>} Failing
 */
/**
 * The values that a training run has learned so far, as texts by parameter name: those of the op, and of each rule by
 * key.
 * @typedef {{op: Object<string, string>, rules: Object<string, Object<string, string>>}} Present
 */

/**
 * Create the cards of the op and of each backward rule.
 * @param {HTMLElement} host
 * @param {{store: import("../choice/store.js").Store, read: import("./formula-field.js").Read|null, colours: () =>
 *   {neutral: string, rules: string[]}, drawn: boolean, refuses: import("./options.js").Refuses, onDraw?: ((slot?: number)
 *   => void)|null}} options ``read``: parses formulas, null without Python; ``colours``: returns the colours of curves;
 *   ``drawn``: whether there are curves to hide; ``refuses``: returns why an op or rule cannot be chosen, or "";
 *   ``onDraw``: starts drawing a rule by hand, or editing the drawing in a slot; null if the page has no chart
 */
export function createCards(host, { store, read, colours, drawn, refuses, onDraw = null }) {
  const add = element("button", { "aria-haspopup": "dialog", class: "add" }, "Add rule");
  const rules = element("div", { class: "rules" });
  const cards = createChildren(rules, createRuleCard, ({ rule }) => rule.slot);
  const getRules = () => getSource("rule", store.current, refuses);
  const opPicker = createPicker({
    ...{ kind: "op", label: "Op", read, isPopup: true },
    getSource: () => getSource("op", store.current, refuses),
    onChoose: (key, choice, isTyped) =>
      change(choice ?? choices.setOp(store.current, key), chooseRangeStep("op", isTyped)),
  });
  const rulePicker = createPicker({
    ...{ kind: "rule", label: "Search rules", read, isPopup: false, getSource: getRules },
    onChoose(key, choice) {
      dialog.close();
      change(choice ?? choices.addRule(store.current, key));
    },
  });
  const dialog = createDialog(host, rulePicker, onDraw);
  const opCard = createEntryCard("op", [], opPicker);
  add.addEventListener("click", dialog.open);
  const defined = element("p", { hidden: !drawn }, "Backward rules set the gradient passed back.");
  host.append(opCard.element, defined, rules, add);

  /**
   * Store new settings if they differ from the present ones.
   * @param {Choice} next @param {Partial<import("../choice/store.js").Change>} [how]
   */
  function change(next, how) {
    if (next !== store.current) store.change(next, how);
  }

  /** Open the section Checks at the first check that a rule fails. @param {number} slot the rule's slot */
  function showChecks(slot) {
    change({ ...store.current, section: "checks" });
    const page = /** @type {ParentNode} */ (host.getRootNode());
    const failure = page.querySelector(`.checked[data-slot="${slot}"] [data-verdict=fails]`);
    failure?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  /**
   * @param {"op"|"rule"} kind @param {Element[]} buttons @param {ReturnType<typeof createPicker>} picker
   * @param {number} [slot] the rule's slot; -1 for the op
   */
  function createEntryCard(kind, buttons, picker, slot = -1) {
    return createCard({
      kind,
      buttons,
      picker,
      store,
      onLearning: (name) => change(togglePanel(store.current, name)),
      onFailing: () => showChecks(slot),
      onSymmetric: (on) => turnSymmetric(slot, on),
      onEdit: onDraw && (() => onDraw(slot)),
      onZero: (zero) => redraw(slot, (drawing) => ({ ...drawing, zero })),
    });
  }

  /** @param {RuleCard} first its first contents */
  function createRuleCard({ rule: { slot } }) {
    const turn = () => change(choices.toggleHidden(store.current, slot));
    const hide = element("button", { class: "hide quiet", onclick: turn });
    const remove = element("button", { class: "remove quiet", onclick: () => removeCard(slot) }, "×");
    const buttons = drawn ? [hide, remove] : [remove];
    const picker = createPicker({
      ...{ kind: "rule", label: "Rule", read, isPopup: true, getSource: getRules },
      onChoose: (key, choice, isTyped) =>
        change(choice ?? choices.replaceRule(store.current, slot, key), chooseRangeStep("rule", isTyped)),
    });
    const card = createEntryCard("rule", buttons, picker, slot);
    return {
      ...card,
      leaves: picker.destroy,
      /** @param {RuleCard} shown */
      show({ rule, state, isOnly }) {
        setAttribute(card.element, "data-rule", rule.key);
        card.update(state);
        setText(hide, rule.hidden ? "Show" : "Hide");
        setAttribute(hide, "aria-label", `${hide.textContent} ${state.entry.label}`);
        setAttribute(remove, "aria-label", `Remove ${state.entry.label}`);
        remove.disabled = isOnly;
      },
    };
  }

  /** @param {number} slot the rule's slot @param {(drawing: Drawing) => Drawing} next returns the changed drawing */
  function redraw(slot, next) {
    const rule = store.current.rules.find((one) => one.slot === slot);
    const drawing = rule && getDrawing(rule.key);
    if (drawing) putDrawing(store, slot, next(drawing));
  }

  /**
   * Make a hand-drawn rule symmetric by mirroring its points, or let its points move one by one.
   * @param {number} slot the rule's slot @param {boolean} on whether to make it symmetric
   */
  function turnSymmetric(slot, on) {
    setSymmetry(store, slot, on);
    redraw(slot, (drawing) => (on ? { ...drawing, points: mirrorLine(drawing.points) } : drawing));
  }

  /** @param {number} slot the rule's slot */
  function removeCard(slot) {
    change(choices.removeRule(store.current, slot));
    add.focus();
  }

  /** @param {Choice} choice */
  function show(choice) {
    const { op, rules: entries } = choices.getEntries(choice);
    const { neutral, rules: bright } = colours();
    const plain = { part: null, share: "", doubt: "", hidden: false, drawing: null };
    opCard.update({ ...makeCardState(choice, op, drawn), ...plain, colour: neutral });
    cards.show(
      choice.rules.map((rule, index) => {
        const entry = entries[index];
        const drawing = drawn && read ? getDrawing(rule.key) : null;
        const state = {
          ...makeCardState(choice, entry, drawn),
          part: drawn ? getPartFormula(choice, entry) : null,
          share: drawn ? describeShare(choice, entry) : "",
          colour: bright[rule.slot % bright.length],
          doubt: isSuitable(entry, op) ? "" : entry.otherwise,
          hidden: rule.hidden,
          drawing: drawing && { zero: drawing.zero, symmetric: isKeptSymmetric(store, rule.slot, drawing) },
        };
        return { rule, state, isOnly: choice.rules.length === 1 };
      }),
    );
    add.disabled = !choices.canAddRule(choice);
    setAttribute(add, "title", add.disabled ? `${getCatalogue().limits.rules} rules are the most.` : null);
  }

  const stop = store.subscribeNow(show);
  let section = "";
  const stopLink = store.subscribeNow((choice) => {
    const isAsked = choice.section === "paste" && section !== "paste"; // the section "paste" is opened by links only
    section = choice.section;
    if (isAsked && read?.code) opPicker.pasteCode("");
  });
  return {
    /** Redraw the cards after a change of the page's colours. */
    refresh: () => show(store.current),
    /**
     * Show on each rule's card its failed check, and the catalogue rule that a drawing resembles.
     * @param {Failing} failing @param {ReadonlyMap<number, string>} close sentences by slot
     */
    showFailing(failing, close) {
      for (const [slot, card] of cards.parts)
        card.showFailing(failing.get(slot) ?? null, close.get(slot) ?? "");
    },
    /** @param {number} slot the rule's slot */
    cardOf: (slot) => (slot < 0 ? opCard : cards.parts.get(slot)),
    /** @param {Present} present */
    showPresent(present) {
      opCard.showPresent(present.op);
      for (const { key, slot } of store.current.rules)
        cards.parts.get(slot)?.showPresent(present.rules[key] ?? {});
    },
    destroy() {
      stop();
      stopLink();
      opPicker.destroy();
      dialog.destroy();
    },
  };
}

/**
 * Return how a new formula changes the settings. All letters of a formula being typed share one history entry.
 * @param {string} kind @param {boolean} isTyped
 */
const chooseRangeStep = (kind, isTyped) => ({ target: isTyped ? `${kind} as it is typed` : null });

/**
 * Return the contents that the cards of ops and of rules have in common.
 * @param {Choice} choice @param {import("../formula/entry.js").Entry} entry
 * @param {boolean} drawn whether there are curves to hide
 */
function makeCardState(choice, entry, drawn) {
  const controls = choices.getCardControls(choice, entry);
  const names = drawn ? choices.getLearnable(choice) : [];
  return {
    entry,
    autograd: choices.getEntries(choice).op.autograd,
    controls,
    values: controls
      .map(
        (one) =>
          `${getDisplayName(one.parameter)} = ${formatFourDigits(getControlValue(choice.parameters, one))}`,
      )
      .join(", "),
    learning: controls.map(({ parameter: { name } }) =>
      names.includes(name) ? choice.learns === name : null,
    ),
  };
}

/**
 * Describe the mean size of a rule's gradient relative to that of the upstream gradient, on the selected input numbers.
 * Returns "" if only torch can compute it.
 * @param {Choice} choice @param {import("../formula/entry.js").Rule} rule
 */
function describeShare(choice, rule) {
  const data = getData();
  const { op } = choices.getEntries(choice);
  const [share, twice] = [1, 2].map((by) => computeShare(op, rule, data, choice.parameters, by * choice.g));
  if (share === null || twice === null) return "";
  const passed = Number.isFinite(share) ? formatPassedShare(share) : "no finite part";
  const needsG = Math.abs(share - twice) > 1e-6; // the rule is not linear in g
  return `Passes ${passed} of g${needsG ? ` = ${formatShort(choice.g)}` : ""} on ${data.label}.`;
}

/**
 * Return the formula of a parameter's gradient under a rule, with a label that says where the formula comes from.
 * Returns null if no parameter learns.
 * @param {Choice} choice @param {import("../formula/entry.js").Rule} rule
 */
function getPartFormula(choice, rule) {
  const { learns } = choice;
  if (!learns) return null;
  const { op } = choices.getEntries(choice);
  const contribution = findContribution(op, rule, learns);
  if (!contribution) return { text: `${learns} cannot learn by this rule.`, formula: "" };
  const { origin, text, scaleText, atBound, note } = contribution;
  const formula = scaleText ? `${scaleText} * sum(${text})` : text && `sum(${text})`;
  const sentences = [`The gradient for ${learns}: ${getCatalogue().origins[origin]}.`, atBound, note];
  return { text: sentences.filter(Boolean).join(" "), formula: formula };
}
