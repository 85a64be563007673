// The memory of lessons, sent nowhere: drawings, picks and revealed answers in this tab, progress in this browser.

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

/** Forget all that this tab remembers of keys that begin so, before a reload too. @param {string} start */
export function forget(start) {
  for (const key of [...cached.keys()]) if (key.startsWith(start)) cached.delete(key);
  try {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(nameOf(start))) sessionStorage.removeItem(name);
  } catch {
    // it was here alone
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

/** ``learned`` holds keys of lessons, ``seen`` the questions seen of each; ``path`` is a title or "". */
/** @typedef {{learned: string[], seen: Object<string, number[]>, path: string}} Progress */

const NAME = "gradient-explorer.learned";
const NONE = { learned: [], seen: {}, path: "" };

let held = /** @type {Progress|null} */ (null); // where a browser forbids its own storage

/** @returns {Progress} */
export function progress() {
  try {
    return { ...NONE, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
  } catch {
    return held ?? NONE;
  }
}

/** @param {Partial<Progress>} change */
function keep(change) {
  const next = { ...progress(), ...change };
  try {
    localStorage.setItem(NAME, JSON.stringify(next));
  } catch {
    held = next; // it lasts until the page is left
  }
}

/** @param {string} path its title, "" for all lessons */
export const follow = (path) => keep({ path });

/** Both fresh questions were answered. @param {string} key of a lesson */
export function learn(key) {
  keep({ learned: [...new Set([...progress().learned, key])] });
}

/**
 * The indices of two questions of a lesson that have not been seen; once there are too few, all are fresh again.
 * @param {string} key of the lesson
 * @param {number} count of its questions
 */
export function twoFresh(key, count) {
  const { seen } = progress();
  const all = Array.from({ length: count }, (_, index) => index);
  const left = all.filter((index) => !seen[key]?.includes(index));
  const before = left.length < 2 ? [] : (seen[key] ?? []);
  const two = (left.length < 2 ? all : left).slice(0, 2);
  keep({ seen: { ...seen, [key]: [...before, ...two] } });
  return two;
}
