// Arithmetic for Python in the browser: values of functions that pure Python cannot compute as torch does.

import { FUNCTIONS, OPERATORS } from "../frontend/formula/functions.js";

/** Return the value of a function or operator, given its name. @param {string} name @param {number[]} values */
export function computed(name, ...values) {
  return (FUNCTIONS[name] ?? OPERATORS[name])(...values);
}
