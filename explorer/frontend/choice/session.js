// Values that outlive a reload of the page, in the session storage, or the visit, in the local one. A frame on another
// site may have none, and one may be full: then they last as long as the page.

/** @typedef {"sessionStorage"|"localStorage"} Kind */

const PREFIX = "gradient-explorer.";
const memory = /** @type {Map<string, string>} */ (new Map()); // of what no storage took

/** The value stored under a name; null if there is none. @param {string} name */
export const load = (name) => read("sessionStorage", name);

/** @param {string} name @param {*} value as JSON has it */
export const keep = (name, value) => write("sessionStorage", name, value);

/** The value that this browser remembers under a name from visit to visit; null if there is none. @param {string} name */
export const recall = (name) => read("localStorage", name);

/** @param {string} name @param {*} value as JSON has it */
export const remember = (name, value) => write("localStorage", name, value);

/** Forget all that is stored under names that begin so. @param {string} start */
export function drop(start) {
  for (const name of [...memory.keys()]) if (name.startsWith(start)) memory.delete(name);
  tryStorage("sessionStorage", (storage) => {
    for (const name of Object.keys(storage)) if (name.startsWith(PREFIX + start)) storage.removeItem(name);
  });
}

/** @param {Kind} kind @param {string} name */
function read(kind, name) {
  const text = memory.get(name) ?? tryStorage(kind, (storage) => storage.getItem(PREFIX + name));
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null; // somebody else wrote it
  }
}

/** @param {Kind} kind @param {string} name @param {*} value */
function write(kind, name, value) {
  const text = JSON.stringify(value);
  memory.set(name, text);
  tryStorage(kind, (storage) => {
    storage.setItem(PREFIX + name, text);
    memory.delete(name);
  });
}

/**
 * What an act on the browser's storage returns; undefined where it may not be looked at, or is full.
 * @template T
 * @param {Kind} kind
 * @param {(storage: Storage) => T} act
 */
function tryStorage(kind, act) {
  try {
    return act(globalThis[kind]);
  } catch {
    return undefined;
  }
}

/** This session's name, so that it has one active run and one study. @returns {string} */
export function owner() {
  const known = load("owner");
  if (known) return known;
  const made = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  keep("owner", made);
  return made;
}
