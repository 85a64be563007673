// The layer "implied": the antiderivative of each rule, dashed over the op.

import { listed } from "../../formula/phrases.js";
import { numberText } from "../../formula/numbers.js";
import { anchorOf, antiderivativeOf } from "../../measures/antiderivative.js";
import { isLinear } from "../../measures/linearity.js";

/** @import { Listed, Picture } from "./picture.js" */
/** @import { Antiderivative } from "../../measures/antiderivative.js" */
/** @typedef {{rule: Listed, linear: boolean|null, implied: Antiderivative|null}} Found */

const SAME = 1e-9;

/** @type {import("./picture.js").Layer} */
export const layer = {
  curves(picture) {
    return found(picture).flatMap(({ rule, implied }) =>
      implied && isDrawn(implied) ? [{ of: rule, panel: "forward", x: picture.curves.x, y: implied.y }] : [],
    );
  },
  words(picture, { lead, nonlinear, nonlinears, unknown, same, apart }) {
    const all = found(picture);
    const names = (/** @type {Found[]} */ some) => listed(some.map(({ rule }) => rule.label));
    const bent = all.filter(({ linear }) => linear === false);
    const missing = all.filter(({ linear, implied }) => linear !== false && !(implied && isDrawn(implied)));
    const known = all.filter(({ implied }) => implied && isDrawn(implied));
    const equal = known.filter(({ implied }) => Math.abs(implied?.by ?? 1) <= SAME);
    const moved = known.filter(({ implied }) => Math.abs(implied?.by ?? 0) > SAME);
    const x = numberText(anchorOf(picture.range)).replace("-", "−");
    return [
      ...(known.length ? [lead.replace("{x}", x)] : []),
      ...(equal.length ? [same.replace("{rules}", names(equal))] : []),
      ...moved.map(({ rule, implied }) =>
        apart.replace("{rule}", rule.label).replace("{by}", numberText(implied?.by ?? 0).replace("-", "−")),
      ),
      ...(bent.length ? [(bent.length > 1 ? nonlinears : nonlinear).replace("{rules}", names(bent))] : []),
      ...(missing.length ? [unknown.replace("{rules}", names(missing))] : []),
    ].join(" ");
  },
};

/** @param {Antiderivative} implied */
function isDrawn({ y }) {
  return y.some(Number.isFinite);
}

let last = {
  key: "",
  picture: /** @type {Picture["curves"]|null} */ (null),
  value: /** @type {Found[]} */ ([]),
};

/** The antiderivatives of all visible rules, computed once for a picture. @param {Picture} picture @returns {Found[]} */
function found({ op, rules, curves, parameters, range: [start, stop] }) {
  const visible = rules.filter(({ hidden }) => !hidden);
  const key = JSON.stringify([visible.map((rule) => [rule.key, rule.slot, rule.colour]), parameters]);
  if (last.picture === curves && last.key === key) return last.value;
  const choice = { start, stop, g: 1, parameters };
  const value = visible.map((rule) => {
    const linear = isLinear(op, rule.entry, choice);
    return { rule, linear, implied: linear ? antiderivativeOf(op, rule.entry, choice, curves) : null };
  });
  last = { key, picture: curves, value };
  return value;
}
