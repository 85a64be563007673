// The reader of links without a server, as explorer/ui/links/curve_words.py reads them. The words of a training are carried
// along unread; own formulas are read by the function that is passed in.

import { FRAME, wordOf } from "./address.js";
import { choiceControls, learnableOf, tidyRange, widened } from "./choice.js";
import { catalogue, find, isOwn, learn, ownText } from "./entries.js";
import { viewWith, wordOf as rowOf } from "./view.js";
import { nonDefault, shownName, valueOf } from "../formula/controls.js";
import { filled } from "../formula/phrases.js";
import { held } from "../formula/records.js";

/** @import { Control } from "../formula/controls.js" */
/** @import { Parameter } from "../formula/entry.js" */
/** @import { Choice, ChosenRule } from "./choice.js" */
/** @import { Kind } from "./entries.js" */
/** @import { Word } from "./view.js" */
/** @typedef {Record<Kind, Record<string, {key: string}|{message: string}>>} OwnRead what own formulas of a link are,
 *   by their keys in it: the key by which they are known, or the message on one that is wrong */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The own formulas of a link, read and remembered; the known ones are not read again.
 * @param {string} search the query of the link
 * @param {(kind: Kind, text: string) => Promise<*>} read gives an entry or a message
 */
export async function readOwn(search, read) {
  /** @type {OwnRead} */
  const known = { op: {}, rule: {}, loss: {} };
  const query = new URLSearchParams(search);
  if (String(query).length > catalogue().limits.query) return known;
  for (const kind of /** @type {const} */ (["op", "rule"]))
    for (const key of query.getAll(kind).filter((each) => isOwn(each) && !find(kind, each))) {
      const { entry, message } = await readPlused(kind, ownText(key), read);
      if (entry) learn(kind, entry);
      known[kind][key] = entry ? { key: entry.key } : { message };
    }
  for (const f of query.getAll("f").filter((text) => !NUMBER.test(text) && !find("loss", text))) {
    const { entry, message } = await readPlused("loss", f, read);
    if (entry) learn("loss", entry);
    known.loss[f] = entry ? { key: entry.key } : { message };
  }
  return known;
}

/**
 * A formula as it is read, or else with a + between operands that have only blanks between them: a + that is not
 * written as %2B is a blank in the query of a link.
 * @param {Kind} kind
 * @param {string} text
 * @param {(kind: Kind, text: string) => Promise<*>} read
 */
async function readPlused(kind, text, read) {
  const asIs = await read(kind, text);
  const plused = text
    .replace(/(?<=\d)(e) +(?=\d)/gi, "$1+")
    .replace(/(?<=[\p{L}\p{N}_.)]) +(?=[\p{L}\p{N}_.(~])/gu, " + ");
  if (asIs.entry || plused === text) return asIs;
  const answer = await read(kind, plused);
  return answer.entry ? answer : asIs;
}

/**
 * The choice of a link, and a notice for each value that cannot be used: that one is as in ``first``. Never
 * throws.
 * @param {string} search the query of the link
 * @param {{first: Choice, own?: OwnRead|null}} known the choice of a link without words, and the link's own
 *   formulas, null if nothing can read them
 */
export function readLink(search, { first, own = null }) {
  const query = new URLSearchParams(search);
  const longest = catalogue().limits.query;
  if (String(query).length > longest)
    return { choice: first, notices: [`The link is longer than ${longest} characters and was not used.`] };
  const link = new Link(query, own);
  const op = keyOf(link, "op", link.last("op") ?? first.op) || first.op;
  const rules = rulesOf(link, first.rules);
  const f = lossIn(link, rowOf("f"));
  const plain = { ...first, op, rules, f, parameters: {}, learns: "", slow: "" };
  const settled = { ...plain, parameters: parametersOf(link, plain) };
  const choice = {
    ...settled,
    ...viewWith((word) => (word.kind === "loss" ? f : READ[word.kind](link, word))),
    learns: learnsOf(link, settled),
    slow: link.last("slow") ?? "",
    training: trainingOf(link),
  };
  link.noteUnused();
  return { choice: widened(choice), notices: link.notices };
}

/** The words of a link, each taken once, and notices on those that cannot be used. */
class Link {
  /** @param {URLSearchParams} query @param {OwnRead|null} own */
  constructor(query, own) {
    this.query = query;
    this.own = own;
    this.notices = /** @type {string[]} */ ([]);
  }

  /** All values of a word. @param {string} name */
  all(name) {
    const values = this.query.getAll(name);
    this.query.delete(name);
    return values;
  }

  /** The last value of a word; undefined where there is none. @param {string} name */
  last(name) {
    return this.all(name).at(-1);
  }

  /**
   * @param {string} name @param {number} usual @param {number} low @param {number} high
   * @param {string} [text] what the link holds, where it is known already
   */
  number(name, usual, low, high, text = this.last(name)) {
    if (text === undefined) return usual;
    const value = NUMBER.test(text) ? Number(text) : NaN;
    if (value >= low && value <= high) return value + 0;
    this.notices.push(
      `The link asks for ${quoted(name)} = ${quoted(text)}: ` +
        `it must be a number from ${low} to ${high} and is left at ${usual}.`,
    );
    return usual;
  }

  noteUnused() {
    for (const name of new Set(this.query.keys()))
      if (!FRAME.includes(name)) this.notices.push(`The link sets ${quoted(name)}, which nothing here uses.`);
  }
}

/**
 * The key of an op or a rule as the browser knows it; "" and a notice where it does not.
 * @param {Link} link @param {Kind} kind @param {string} key
 */
function keyOf(link, kind, key) {
  const read = link.own && held(link.own[kind], key);
  if (read && "key" in read) return read.key;
  if (find(kind, key)) return key;
  const spelled = isOwn(key) ? "" : findSpelling(kind, key);
  if (spelled) {
    link.notices.push(`The link's ${kind} ${quoted(key)} is read as ${spelled}.`);
    return spelled;
  }
  const formula = quoted(ownText(key));
  const reason = read ? `cannot be read: ${read.message}` : "needs the app, which reads formulas";
  link.notices.push(
    isOwn(key)
      ? `The link's own ${kind} ${formula} ${reason}.`
      : `The link names an unknown ${kind} ${quoted(key)}.`,
  );
  return "";
}

/**
 * The one key that a word is, or that has it as its label, but for case, blanks, hyphens, -ise and -ize; "" where
 * none or several are.
 * @param {Kind} kind @param {string} word
 */
function findSpelling(kind, word) {
  const british = (/** @type {string} */ name) =>
    name
      .replace(/[^\p{L}\p{N}]/gu, "")
      .toLowerCase()
      .replace(/iz(?=e|ing|ation)/g, "is");
  const entries = kind === "op" ? catalogue().ops : catalogue().rules;
  const fits = Object.values(entries).filter(({ key, label }) =>
    [key, label].map(british).includes(british(word)),
  );
  return fits.length === 1 ? fits[0].key : "";
}

/** The rules of a link with colours and hidden ones. @param {Link} link @param {ChosenRule[]} usual @returns {ChosenRule[]} */
function rulesOf(link, usual) {
  const keys = link.all("rule").map((key) => keyOf(link, "rule", key));
  const named = [...new Set(keys.filter(Boolean))];
  const most = catalogue().limits.rules;
  if (named.length > most)
    link.notices.push(`The link names ${named.length} rules: the first ${most} are shown.`);
  const visible = named.length ? named.slice(0, most) : usual.map((rule) => rule.key);
  const hidden = link.all("hide");
  const stranger = hidden.find((key) => !visible.includes(key));
  if (stranger !== undefined)
    link.notices.push(`The link hides ${quoted(stranger)}, which is not among its rules.`);
  const slots = slotsOf(link, visible.length);
  return visible.map((key, index) => ({ key, slot: slots[index], hidden: hidden.includes(key) }));
}

/** The colour of each rule, from 0 on. @param {Link} link @param {number} count */
function slotsOf(link, count) {
  const usual = [...Array(count).keys()];
  const text = link.last("colours") || "";
  const slots = [...text].map((digit) => (/\d/.test(digit) ? Number(digit) - 1 : NaN));
  const most = catalogue().limits.rules;
  const apart = new Set(slots).size === count && slots.length === count;
  if (!text || (apart && slots.every((slot) => slot >= 0 && slot < most))) return text ? slots : usual;
  link.notices.push(
    `The link's colours ${quoted(text)} do not suit its ${count} rules: each needs another digit from 1 to ${most}.`,
  );
  return usual;
}

/** The values that differ from their default. @param {Link} link @param {Choice} choice */
function parametersOf(link, choice) {
  const controls = choiceControls(choice);
  const texts = controls.map(({ name }) => link.last(wordOf(name)));
  const qualified = controls.filter(({ name, parameter }) => name !== shownName(parameter));
  const plain = [...new Set(qualified.map(({ parameter }) => shownName(parameter)))];
  const ofOp = controls.map(({ name }) => name);
  const shared = Object.fromEntries(
    plain.map((name) => [name, ofOp.includes(name) ? texts[ofOp.indexOf(name)] : link.last(wordOf(name))]),
  );
  /** @type {Record<string, number>} */
  const values = {};
  controls.forEach(({ name, parameter }, index) => {
    // A plain name means every rule that has it; where it is the op's in another meaning, as in links from when
    // the two were one, the rules for which the value means something.
    const text = texts[index] ?? held(shared, shownName(parameter));
    const foreign = texts[index] === undefined && parameter.plain !== "";
    if (text === undefined || (foreign && !isPossible(text, parameter))) return;
    values[name] = link.number(name, parameter.default, ...parameter.reach, text);
  });
  return nonDefault(inOrder(link, values, controls), controls);
}

/** Whether a text is a number that a link may hold for a parameter. @param {string} text @param {Parameter} parameter */
function isPossible(text, { reach: [low, high] }) {
  return NUMBER.test(text) && Number(text) >= low && Number(text) <= high;
}

/**
 * Values with the pairs that must not cross, such as lo and hi, put in order.
 * @param {Link} link @param {Record<string, number>} values @param {Control[]} controls
 */
function inOrder(link, values, controls) {
  const next = { ...values };
  for (const low of controls) {
    const { below } = low.parameter;
    const own = low.name.slice(0, low.name.length - shownName(low.parameter).length) + below;
    const high =
      below && (controls.find((one) => one.name === own) ?? controls.find((one) => one.name === below));
    if (!high || valueOf(next, low) <= valueOf(next, high)) continue;
    const [above, under] = [valueOf(next, low), valueOf(next, high)];
    link.notices.push(`${low.name} = ${above} lies above ${high.name} = ${under}: the two were swapped.`);
    Object.assign(next, { [low.name]: under, [high.name]: above });
  }
  return next;
}

/** @param {Link} link @param {Choice} choice */
function learnsOf(link, choice) {
  const name = link.last("learns") ?? "";
  if (!name || learnableOf(choice).includes(name)) return name;
  link.notices.push(`The link lets ${quoted(name)} learn, which cannot.`);
  return "";
}

/** @param {Link} link @param {Word} word */
function rangeOf(link, { name, default: usual, low, high }) {
  const ends = link.all(name);
  if (!ends.length) return usual;
  if (ends.length !== 2) {
    const example = usual.map((/** @type {number} */ end) => `${name}=${end}`).join("&");
    link.notices.push(`The link's ${name} needs two values, such as ${example}.`);
    return usual;
  }
  const [start, stop] = ends.map((text, end) => link.number(name, usual[end], low, high, text));
  const tidied = tidyRange(start, stop);
  if (String(tidied) !== String([start, stop]))
    link.notices.push(`The range ${start} to ${stop} is drawn from ${tidied.join(" to ")}.`);
  return tidied;
}

/** @param {Link} link @param {Word} word */
function choiceOf(link, { name, default: usual, words, refusal }) {
  const text = link.last(name) || usual;
  if (text === usual || held(words, text)) return text;
  const parts = { name, text: quoted(text), words: Object.keys(words).join(", "), default: quoted(usual) };
  link.notices.push(filled(refusal, parts));
  return usual;
}

/** The formula of a loss; a number is a parameter of that name, as in older links. @param {Link} link @param {Word} word */
function lossIn(link, { name, default: usual, refusal }) {
  const text = link.last(name) || usual;
  if (NUMBER.test(text)) {
    if (!link.query.has(`p.${name}`)) link.query.append(`p.${name}`, text);
    return usual;
  }
  if (find("loss", text)) return text;
  const read = link.own && held(link.own.loss, text);
  if (read && "key" in read) return read.key;
  const why = read && "message" in read ? read.message : "it needs the app, which reads formulas";
  link.notices.push(filled(refusal, { text: quoted(text), why }));
  return usual;
}

/** The reader of each kind of word. @type {Record<Exclude<Word["kind"], "loss">, (link: Link, word: Word) => *>} */
const READ = {
  number: (link, { name, default: usual, low, high }) => link.number(name, usual, low, high),
  range: rangeOf,
  choice: choiceOf,
};

/** The words of a training in a link, unread. @param {Link} link @returns {Record<string, string>} */
function trainingOf(link) {
  /** @type {Record<string, string>} */
  const training = {};
  for (const name of catalogue().link.words.filter((word) => !FRAME.includes(word))) {
    const texts = link.all(name);
    if (texts.length) training[name] = name === "branch" ? texts.join("\n") : texts[texts.length - 1];
  }
  return training;
}

/** A quotation of what a link holds: one short line. @param {string} text */
function quoted(text) {
  const longest = catalogue().limits.quote;
  const line = text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
  return `"${line.replace(/\p{C}/gu, "?")}"`;
}
