// The layer "lens": the gradient of the op under noise, dashed among those of the rules.

import { rangeOf, valuesOf } from "../../formula/curves.js";
import { filled, listed } from "../../formula/phrases.js";
import { numberText, passedText } from "../../formula/numbers.js";
import { distanceFrom, NEARLY, SAME, seenThrough } from "../../measures/lens.js";

/** @import { Picture } from "./picture.js" */
/** @import { Seen } from "../../measures/lens.js" */

/** @type {import("./picture.js").Layer} */
export const layer = {
  curves(picture) {
    const seen = seenIn(picture);
    if (!seen || seen.reason) return [];
    const { x, gradient } = seen;
    const of = { key: "", label: picture.op.label, colour: "" };
    return [{ of, panel: "gradient", x, y: gradient.map((value) => picture.g * value) }];
  },
  words(picture, words) {
    const { noise, op, range } = picture;
    const seen = seenIn(picture);
    if (!seen || !noise) return "";
    const known = {
      ...{ op: op.label, noise: noise.label, width: said(picture.noiseWidth ?? 1), meaning: noise.width },
      ...{ start: said(range[0]), stop: said(range[1]) },
    };
    if (seen.reason) return filled(words[seen.reason], known);
    const { parameters, g } = picture;
    const choice = { start: range[0], stop: range[1], g, parameters };
    const found = picture.rules.flatMap(({ entry, label, hidden }) => {
      const distance = hidden ? null : distanceFrom(op, entry, choice, seen);
      return distance === null ? [] : [{ label, distance }];
    });
    const labels = (/** @type {(distance: number) => boolean} */ fits) =>
      found.filter(({ distance }) => fits(distance)).map(({ label }) => label);
    const same = labels((distance) => distance <= SAME);
    const apart = found
      .filter(({ distance }) => distance > NEARLY && distance < Infinity)
      .map(({ label, distance }) => `${label} ${passedText(distance)}`);
    /** @type {[string, string[]][]} */
    const sentences = [
      [same.length > 1 ? "sames" : "same", same],
      ["nearly", labels((distance) => distance > SAME && distance <= NEARLY)],
      ["apart", apart],
      ["unlike", labels((distance) => distance === Infinity)],
    ];
    return [
      filled(words.lead, known),
      ...(seen.gradient.some(Number.isNaN) ? [filled(words.holes, known)] : []),
      ...sentences.flatMap(([name, rules]) =>
        rules.length ? [filled(words[name], { ...known, rules: listed(rules) })] : [],
      ),
    ].join(" ");
  },
};

/** @param {number} value */
const said = (value) => numberText(value).replace("-", "−");

let last = { key: "", seen: /** @type {Seen|null} */ (null) };

/** The op of a picture through its noise, computed once. @param {Picture} picture */
function seenIn({ op, parameters, noise, noiseWidth = 1, range: [start, stop] }) {
  if (!noise) return null;
  const values = valuesOf(op, null, parameters);
  const span = /** @type {[number, number]} */ (rangeOf({ start, stop }));
  const key = JSON.stringify([op.key, values, noise.key, noiseWidth, span]);
  if (key !== last.key) last = { key, seen: seenThrough(op, values, noise, noiseWidth, span) };
  return last.seen;
}
