// The memory of each lesson: drawings, picks, revealed answers. It stays in this tab and is sent nowhere.

/**
 * ``picked`` is the index of an answer; ``drawn`` the cells of a drawing;
 * ``missed`` whether it was checked and not right; ``revealed`` is "checked"
 * after a right prediction, "shown" where the answer was asked for, else null.
 * @typedef {{picked: number|null, drawn: (number|null)[]|null, missed: boolean,
 *   revealed: "checked"|"shown"|null}} State
 */

/** @type {State} */
export const NOTHING = { picked: null, drawn: null, missed: false, revealed: null };

// Where a browser forbids its own storage, as in some frames.
const cached = /** @type {Map<string, string>} */ (new Map());

/** @param {string} key of a lesson @returns {State} */
export function recall(key) {
  try {
    return { ...NOTHING, ...JSON.parse(read(key) ?? "{}") };
  } catch {
    return NOTHING;
  }
}

/** @param {string} key @param {State} state */
export function remember(key, state) {
  const text = JSON.stringify(state);
  cached.set(key, text);
  try {
    sessionStorage.setItem(nameOf(key), text);
  } catch {
    // the values here last until the page is left
  }
}

/** Forget all that is remembered of keys that begin so. @param {string} start */
export function forget(start) {
  for (const key of [...cached.keys()].filter((each) => each.startsWith(start))) {
    cached.delete(key);
    try {
      sessionStorage.removeItem(nameOf(key));
    } catch {
      // it was here alone
    }
  }
}

/** @param {string} key */
function read(key) {
  try {
    return sessionStorage.getItem(nameOf(key));
  } catch {
    return cached.get(key) ?? null;
  }
}

/** @param {string} key */
const nameOf = (key) => `lesson ${key}`;
