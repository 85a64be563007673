// Code from the site's files, with the chosen numbers filled in.

import { lossOf } from "../../choice/choice.js";
import { partKey, sampleCurves, valuesOf } from "../../formula/curves.js";
import { valuesOfLoss } from "../../formula/drawn.js";
import { floatText } from "../../formula/python.js";
import { held } from "../../formula/records.js";

/** @import { Choice } from "../../choice/choice.js" */
/**
 * The files of explorer/site/codes.py. A text is a list of numbers of lines.
 * @typedef {{indent: number, head: string, arguments: string[], tail: string}} Signature
 * @typedef {{width: number, lines: (string|Signature)[]}} Lines a line is to be ``width`` characters at most
 * @typedef {{function: string, layer: string, learns: string[]} & Record<string, number[]|string>} Texts
 *   of a rule by language; in place of a text a sentence that says why there is none
 * @typedef {Lines & {rules: Record<string, Record<string, Texts>>}} Codes of an op, by rule and by what
 *   learns beyond the rule's own, or ""
 * @typedef {Lines & {book: *, cells: Record<string, Record<string, number[]>>}} Notebooks the cells below
 *   that of the function, by what learns, and a notebook whose cells are empty
 * @typedef {{op: import("../../formula/entry.js").Op, rule: import("../../formula/entry.js").Rule}} Pair
 */

const WITHOUT_TORCH = "import torch\n\n";

/**
 * The texts of a rule for what learns; undefined where none came along.
 * @param {Codes} codes
 * @param {string} rule
 * @param {string} learns
 */
export function textsOf(codes, rule, learns) {
  const known = held(codes.rules, rule);
  return known && (held(known, learns) ?? known[""]);
}

/**
 * The code of a pair in a language.
 * @param {Lines} codes
 * @param {number[]} text
 * @param {Texts} texts the names in it
 * @param {Pair} pair
 * @param {Choice["parameters"]} parameters
 */
export function codeText(codes, text, texts, { op, rule }, parameters) {
  return filled(codes, text, { ...named(texts), ...texted(valuesOf(op, rule, parameters)) });
}

/**
 * The notebook of a pair, as the text of its file.
 * @param {Notebooks} notebooks
 * @param {{introduction: string, code: string}} written
 * @param {Texts} texts
 * @param {Pair} pair
 * @param {Choice} choice
 */
export function notebookText(notebooks, { introduction, code }, texts, { op, rule }, choice) {
  const { range, g, parameters } = choice;
  const [start, stop] = range.map(floatText);
  const kinks = kinksLine(kinksOf(op, rule, choice), notebooks.width);
  const values = texted(valuesOf(op, rule, parameters));
  const replacements = { ...named(texts), ...values, start, stop, g: floatText(g), kinks };
  const cellTexts = Object.entries(held(notebooks.cells, texts.learns.join(" ")) ?? {});
  const below = Object.fromEntries(
    cellTexts.map(([id, text]) => [id, filled(notebooks, text, replacements)]),
  );
  if (!code.includes("import torch\n")) below.sample = WITHOUT_TORCH + below.sample;
  const cells = /** @type {Record<string, string>} */ ({ introduction, function: code.trimEnd(), ...below });
  const { book } = notebooks;
  const present = book.cells.filter((/** @type {{id: string}} */ cell) => cell.id in cells);
  const whole = present.map((/** @type {{id: string}} */ cell) => ({
    ...cell,
    source: cells[cell.id].split(/(?<=\n)/), // lines that keep their ends
  }));
  return JSON.stringify({ ...book, cells: whole }, null, 1);
}

/**
 * The question to Python for the code of a pair with an own formula: numbers as Python writes them.
 * @param {string} language
 * @param {Pair} pair
 * @param {Choice} choice
 */
export function codeQuestion(language, { op, rule }, choice) {
  const [start, stop, g] = [...choice.range, choice.g].map(floatText);
  const kinks = kinksOf(op, rule, choice).map(floatText);
  const lost = valuesOfLoss(lossOf(choice), choice.parameters);
  const parameters = texted({ ...lost, ...valuesOf(op, rule, choice.parameters) });
  const keys = { op: op.key, rule: rule.key, learns: choice.learns };
  return { language, ...keys, parameters, drawing: { start, stop, g, kinks, f: choice.f } };
}

/** @param {Texts} texts */
function named(texts) {
  return { function: texts.function, layer: texts.layer };
}

/** @param {Record<string, number>} values @returns {Record<string, string>} */
function texted(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, floatText(value)]));
}

/** @param {Lines} of @param {number[]} text @param {Record<string, string>} replacements */
function filled({ lines, width }, text, replacements) {
  const fill = (/** @type {string} */ part) =>
    part.replace(/«(\w+)»/g, (_, /** @type {string} */ name) => held(replacements, name) ?? name);
  const put = (/** @type {string|Signature} */ line) =>
    typeof line === "string" ? fill(line) : laidOut(line, fill, width);
  return text.map((number) => put(lines[number])).join("\n");
}

/**
 * A signature in one line, or its arguments in one, or each in its own: as black has it.
 * @param {Signature} signature
 * @param {(part: string) => string} fill
 * @param {number} width
 */
function laidOut({ indent, head, arguments: args, tail }, fill, width) {
  const space = " ".repeat(indent);
  const within = `${space}    `;
  const parts = args.map(fill);
  const [first, inner, last] = [space + fill(head), parts.join(", "), tail];
  if ((first + inner + last).length <= width) return first + inner + last;
  const each = (within + inner).length <= width ? [within + inner] : parts.map((part) => `${within}${part},`);
  return [first, ...each, space + last].join("\n");
}

/**
 * The kinks of a rule and of what learns by it, as float32.
 * @param {Pair["op"]} op
 * @param {Pair["rule"]} rule
 * @param {Choice} choice
 */
function kinksOf(op, rule, { range: [start, stop], g, parameters, learns }) {
  const { kinks } = sampleCurves(
    { op, rules: [rule] },
    { start, stop, g, parameters, learns },
    { points: 2 },
  );
  const all = [...(kinks[rule.key] ?? []), ...(kinks[partKey(rule.key)] ?? [])];
  return [...new Set(all.map((x) => Math.fround(x) + 0))].sort((one, other) => one - other);
}

/** @param {number[]} kinks @param {number} width */
function kinksLine(kinks, width) {
  const numbers = kinks.map(floatText);
  const line = `kinks = torch.tensor([${numbers.join(", ")}])`;
  if (line.length <= width) return line;
  const rows = /** @type {string[]} */ ([]);
  numbers.forEach((number, index) => {
    const word = index < numbers.length - 1 ? `${number},` : number;
    const longer = `${rows[rows.length - 1]} ${word}`;
    if (rows.length && longer.length <= width) rows[rows.length - 1] = longer;
    else rows.push(`    ${word}`);
  });
  return ["kinks = torch.tensor([", ...rows, "])  # fmt: skip"].join("\n");
}
