// Wrong on purpose: `sh tests/types` fails unless each of these mistakes is seen. Nothing runs this.

import { setRange } from "../explorer/frontend/choice/choice.js";
import { toTraces } from "../explorer/frontend/chart/scene/traces.js";
import { evaluate } from "../explorer/frontend/formula/evaluation.js";
import { getNextFloat } from "../explorer/frontend/formula/floats.js";

// @ts-expect-error: text is no number
getNextFloat("1");
// @ts-expect-error: a scope needs x
evaluate(["+", "x", 1], { parameters: {} });
// @ts-expect-error: a choice has more than an op
setRange({ op: "round" }, 0, 1);
// @ts-expect-error: the list of rules without a curve is missing
toTraces([]);
// @ts-expect-error: what nobody says the type of
export const untyped = (value) => value;
