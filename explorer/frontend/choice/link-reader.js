// Parsing of links in the browser, as explorer/ui/links/curve_words.py does on the server. Training settings stay
// unparsed text. A function of the caller parses formulas.

import { FRAME_WORDS, toLinkWord } from "./address.js";
import { getControls, getLearnable, normalizeRange, widenBounds } from "./choice.js";
import { getCatalogue, findEntry, isCustom, addCustomEntry, getCustomText } from "./entries.js";
import { mapQueryParameters, getQueryParameter } from "./view.js";
import { dropDefaults, getDisplayName, getControlValue } from "../formula/controls.js";
import { fillTemplate } from "../formula/phrases.js";
import { getOwn } from "../formula/records.js";

/** @import { Control } from "../formula/controls.js" */
/** @import { Choice, ChosenRule } from "./choice.js" */
/** @import { Kind } from "./entries.js" */
/** @import { QueryParameter } from "./view.js" */
/**
 * The results of parsing the formulas in a link, by kind and text: the key of the new entry, or an error message.
 * @typedef {Record<Kind, Record<string, {key: string}|{message: string}>>} ResolvedFormulas
 */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Parse the formulas in a link, and make new ones available to ``findEntry``. Resolves to the results.
 * @param {string} search the query of the link
 * @param {(kind: Kind, text: string) => Promise<*>} read parses a formula; resolves to an entry or a message
 */
export async function readCustomFormulas(search, read) {
  /** @type {ResolvedFormulas} */
  const resolved = { op: {}, rule: {}, loss: {} };
  const query = new URLSearchParams(search);
  if (String(query).length > getCatalogue().limits.query) return resolved;
  for (const kind of /** @type {const} */ (["op", "rule"]))
    for (const key of query.getAll(kind).filter((each) => isCustom(each) && !findEntry(kind, each))) {
      const { entry, message } = await readWithPluses(kind, getCustomText(key), read);
      if (entry) addCustomEntry(kind, entry);
      resolved[kind][key] = entry ? { key: entry.key } : { message };
    }
  for (const f of query.getAll("f").filter((text) => !NUMBER.test(text) && !findEntry("loss", text))) {
    const { entry, message } = await readWithPluses("loss", f, read);
    if (entry) addCustomEntry("loss", entry);
    resolved.loss[f] = entry ? { key: entry.key } : { message };
  }
  return resolved;
}

/**
 * Parse a formula from a link. If that fails, try again with plus signs in place of blanks, because an unencoded "+" in
 * a query means a blank. Resolves to an entry or a message.
 * @param {Kind} kind @param {string} text
 * @param {(kind: Kind, text: string) => Promise<*>} read parses a formula; resolves to an entry or a message
 */
async function readWithPluses(kind, text, read) {
  const unchanged = await read(kind, text);
  const plused = text
    .replace(/(?<=\d)(e) +(?=\d)/gi, "$1+")
    .replace(/(?<=[\p{L}\p{N}_.)]) +(?=[\p{L}\p{N}_.(~])/gu, " + ");
  if (unchanged.entry || plused === text) return unchanged;
  const answer = await read(kind, plused);
  return answer.entry ? answer : unchanged;
}

/**
 * Parse the query of a link as the settings of a page. Unusable values are replaced by defaults, and each gets a
 * notice. Never throws.
 * @param {string} search the query
 * @param {{first: Choice, own?: ResolvedFormulas|null}} known ``first``: the default settings; ``own``: the link's
 *   parsed formulas, or null if nothing can parse them
 */
export function readLink(search, { first, own = null }) {
  const query = new URLSearchParams(search);
  const longest = getCatalogue().limits.query;
  if (String(query).length > longest)
    return { choice: first, notices: [`The link is longer than ${longest} characters and was not used.`] };
  const link = new LinkQuery(query, own);
  const shown = ` ${findEntry("op", first.op)?.label} is shown.`;
  const op = resolveKey(link, "op", link.takeLast("op") ?? first.op, shown) || first.op;
  const rules = readRules(link, first.rules);
  const f = readLoss(link, getQueryParameter("f"));
  const plain = { ...first, op, rules, f, parameters: {}, learns: "", slow: "" };
  const resolved = { ...plain, parameters: readParameters(link, plain) };
  const choice = {
    ...resolved,
    ...mapQueryParameters((one) => (one.kind === "loss" ? f : READERS[one.kind](link, one))),
    learns: readLearns(link, resolved),
    slow: link.takeLast("slow") ?? "",
    training: readTraining(link),
  };
  link.noteUnused();
  return { choice: widenBounds(choice), notices: link.notices };
}

/** The query parameters of a link that have not been read yet, with notices about unusable values. */
class LinkQuery {
  /** @param {URLSearchParams} query @param {ResolvedFormulas|null} own the link's parsed formulas, or null */
  constructor(query, own) {
    this.query = query;
    this.own = own;
    this.notices = /** @type {string[]} */ ([]);
  }

  /** @param {string} name */
  takeAll(name) {
    const values = this.query.getAll(name);
    this.query.delete(name);
    return values;
  }

  /** Remove a query parameter. Returns its last value, or undefined if it is missing. @param {string} name */
  takeLast(name) {
    return this.takeAll(name).at(-1);
  }

  /**
   * Remove a query parameter, and return its number. If it is invalid, add a notice and return the default.
   * @param {string} name @param {number} defaultValue @param {number} low the minimum @param {number} high the maximum
   * @param {string} [text] the value, if it was removed already
   */
  takeNumber(name, defaultValue, low, high, text = this.takeLast(name)) {
    if (text === undefined) return defaultValue;
    const value = NUMBER.test(text) ? Number(text) : NaN;
    if (value >= low && value <= high) return value + 0;
    this.notices.push(
      `The link asks for ${quote(name)} = ${quote(text)}: ` +
        `it must be a number from ${low} to ${high} and is left at ${defaultValue}.`,
    );
    return defaultValue;
  }

  noteUnused() {
    for (const name of new Set(this.query.keys()))
      if (!FRAME_WORDS.includes(name))
        this.notices.push(`The link sets ${quote(name)}, which nothing here uses.`);
  }
}

/**
 * Return the key of an op or rule in a link. If there is none, add a notice and return "".
 * @param {LinkQuery} link @param {Kind} kind @param {string} key @param {string} shown what is shown instead
 */
function resolveKey(link, kind, key, shown = "") {
  const parsed = link.own && getOwn(link.own[kind], key);
  if (parsed && "key" in parsed) return parsed.key;
  if (findEntry(kind, key)) return key;
  const spelled = isCustom(key) ? "" : findSpelling(kind, key);
  if (spelled) {
    link.notices.push(`The link's ${kind} ${quote(key)} is read as ${spelled}.`);
    return spelled;
  }
  const formula = quote(getCustomText(key));
  const reason = parsed ? `cannot be read: ${parsed.message}` : "needs the app, which reads formulas";
  link.notices.push(
    isCustom(key)
      ? `The link's own ${kind} ${formula} ${reason}.${shown}`
      : `The link names an unknown ${kind} ${quote(key)}.${shown}`,
  );
  return "";
}

/**
 * Find the op or rule whose key or label, or else whose alternative name, equals a word, ignoring case, punctuation and
 * the difference of -ise and -ize. Returns its key, or "" unless exactly one matches.
 * @param {Kind} kind @param {string} word
 */
function findSpelling(kind, word) {
  const normalize = (/** @type {string} */ name) =>
    name
      .replace(/[^\p{L}\p{N}]/gu, "")
      .toLowerCase()
      .replace(/iz(?=e|ing|ation)/g, "is");
  const entries = Object.values(kind === "op" ? getCatalogue().ops : getCatalogue().rules);
  const isNamed = (/** @type {string[]} */ names) => names.map(normalize).includes(normalize(word));
  const matches = entries.filter(({ key, label }) => isNamed([key, label]));
  const others = matches.length ? matches : entries.filter(({ also }) => isNamed(also));
  return others.length === 1 ? others[0].key : "";
}

/** @param {LinkQuery} link @param {ChosenRule[]} defaults @returns {ChosenRule[]} */
function readRules(link, defaults) {
  const names = [...link.takeAll("rule"), ...link.takeAll("rules")];
  const resolved = names.map((key) => resolveKey(link, "rule", key));
  const keys = [...new Set(resolved.filter(Boolean))];
  const maxRules = getCatalogue().limits.rules;
  if (keys.length > maxRules)
    link.notices.push(`The link names ${keys.length} rules: the first ${maxRules} are shown.`);
  const visible = keys.length ? keys.slice(0, maxRules) : defaults.map((rule) => rule.key);
  const hiddenKeys = link.takeAll("hide");
  const unknown = hiddenKeys.find((key) => !visible.includes(key));
  if (unknown !== undefined)
    link.notices.push(`The link hides ${quote(unknown)}, which is not among its rules.`);
  const slots = readSlots(link, visible.length);
  return visible.map((key, index) => ({ key, slot: slots[index], hidden: hiddenKeys.includes(key) }));
}

/** @param {LinkQuery} link @param {number} count number of rules */
function readSlots(link, count) {
  const defaults = [...Array(count).keys()];
  const text = link.takeLast("colours") || "";
  const slots = [...text].map((digit) => (/\d/.test(digit) ? Number(digit) - 1 : NaN));
  const maxRules = getCatalogue().limits.rules;
  const areDistinct = new Set(slots).size === count && slots.length === count;
  if (!text || (areDistinct && slots.every((slot) => slot >= 0 && slot < maxRules)))
    return text ? slots : defaults;
  link.notices.push(
    `The link's colours ${quote(text)} do not suit its ${count} rules: each needs another digit from 1 to ${maxRules}.`,
  );
  return defaults;
}

/** @param {LinkQuery} link @param {Choice} choice */
function readParameters(link, choice) {
  const controls = getControls(choice);
  const texts = controls.map(({ name }) => link.takeLast(toLinkWord(name)));
  const qualifiedControls = controls.filter(({ name, parameter }) => name !== getDisplayName(parameter));
  const plainNames = [...new Set(qualifiedControls.map(({ parameter }) => getDisplayName(parameter)))];
  const names = controls.map(({ name }) => name);
  const plainTexts = Object.fromEntries(
    plainNames.map((name) => [
      name,
      names.includes(name) ? texts[names.indexOf(name)] : link.takeLast(toLinkWord(name)),
    ]),
  );
  /** @type {Record<string, number>} */
  const values = {};
  controls.forEach(({ name, parameter }, index) => {
    // A bare name sets every rule's parameter of that name. If the name has another meaning in the op, as in old links,
    // it sets the rules that allow the value.
    const text = texts[index] ?? getOwn(plainTexts, getDisplayName(parameter));
    const isForeignDefault = texts[index] === undefined && parameter.plain !== "";
    const [low, high] = parameter.reach;
    const isAllowed = text !== undefined && NUMBER.test(text) && Number(text) >= low && Number(text) <= high;
    if (text === undefined || (isForeignDefault && !isAllowed)) return;
    values[name] = link.takeNumber(name, parameter.default, ...parameter.reach, text);
  });
  return dropDefaults(swapCrossed(link, values, controls), controls);
}

/**
 * Return values in which those in the wrong order, such as lo above hi, are swapped. Adds a notice for each swap.
 * @param {LinkQuery} link @param {Record<string, number>} values @param {Control[]} controls
 */
function swapCrossed(link, values, controls) {
  const next = { ...values };
  for (const low of controls) {
    const { below } = low.parameter;
    const ownName = low.name.slice(0, low.name.length - getDisplayName(low.parameter).length) + below;
    const high =
      below && (controls.find((one) => one.name === ownName) ?? controls.find((one) => one.name === below));
    if (!high || getControlValue(next, low) <= getControlValue(next, high)) continue;
    const [lowValue, highValue] = [getControlValue(next, low), getControlValue(next, high)];
    link.notices.push(
      `${low.name} = ${lowValue} lies above ${high.name} = ${highValue}: the two were swapped.`,
    );
    Object.assign(next, { [low.name]: highValue, [high.name]: lowValue });
  }
  return next;
}

/** Read which parameter has an open gradient panel, or return "". @param {LinkQuery} link @param {Choice} choice */
function readLearns(link, choice) {
  const name = link.takeLast("learns") ?? "";
  if (!name || getLearnable(choice).includes(name)) return name;
  link.notices.push(`The link lets ${quote(name)} learn, which cannot.`);
  return "";
}

/** @param {LinkQuery} link @param {QueryParameter} declared */
function readRange(link, { name, default: usual, low, high }) {
  const ends = link.takeAll(name);
  if (!ends.length) return usual;
  if (ends.length !== 2) {
    const example = usual.map((/** @type {number} */ end) => `${name}=${end}`).join("&");
    link.notices.push(`The link's ${name} needs two values, such as ${example}.`);
    return usual;
  }
  const [start, stop] = ends.map((text, end) => link.takeNumber(name, usual[end], low, high, text));
  const normalized = normalizeRange(start, stop);
  if (String(normalized) !== String([start, stop]))
    link.notices.push(`The range ${start} to ${stop} is drawn from ${normalized.join(" to ")}.`);
  return normalized;
}

/** @param {LinkQuery} link @param {QueryParameter} declared */
function readText(link, { name, default: usual, words, refusal }) {
  const text = link.takeLast(name) || usual;
  if (text === usual || getOwn(words, text)) return text;
  const parts = { name, text: quote(text), words: Object.keys(words).join(", "), default: quote(usual) };
  link.notices.push(fillTemplate(refusal, parts));
  return usual;
}

/**
 * Read the loss in a link, a formula of y. In old links, a number with this name is the value of a parameter.
 * @param {LinkQuery} link @param {QueryParameter} declared
 */
function readLoss(link, { name, default: usual, refusal }) {
  const text = link.takeLast(name) || usual;
  if (NUMBER.test(text)) {
    if (!link.query.has(`p.${name}`)) link.query.append(`p.${name}`, text);
    return usual;
  }
  if (findEntry("loss", text)) return text;
  const resolved = link.own && getOwn(link.own.loss, text);
  if (resolved && "key" in resolved) return resolved.key;
  const reason =
    resolved && "message" in resolved ? resolved.message : "it needs the app, which reads formulas";
  link.notices.push(fillTemplate(refusal, { text: quote(text), why: reason }));
  return usual;
}

/**
 * Functions by kind of query parameter. Each reads the value of one.
 * @type {Record<Exclude<QueryParameter["kind"], "loss">, (link: LinkQuery, declared: QueryParameter) => *>}
 */
const READERS = {
  number: (link, { name, default: usual, low, high }) => link.takeNumber(name, usual, low, high),
  range: readRange,
  choice: readText,
};

/** @param {LinkQuery} link @returns {Record<string, string>} */
function readTraining(link) {
  /** @type {Record<string, string>} */
  const training = {};
  for (const name of getCatalogue().link.words.filter((word) => !FRAME_WORDS.includes(word))) {
    const texts = link.takeAll(name);
    if (texts.length) training[name] = name === "branch" ? texts.join("\n") : texts[texts.length - 1];
  }
  return training;
}

/** Quote text from a link. It is shortened, and control characters are replaced. @param {string} text */
function quote(text) {
  const longest = getCatalogue().limits.quote;
  const line = text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
  return `"${line.replace(/\p{C}/gu, "?")}"`;
}
