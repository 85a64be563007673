// Values in the browser's storage, as JSON: session storage survives a reload, local storage lasts across visits. A
// frame on another site may have no storage, and storage may be full; values then last as long as the page.

/** @typedef {"sessionStorage"|"localStorage"} Kind */

const PREFIX = "gradient-explorer.";
const memory = /** @type {Map<string, string>} */ (new Map()); // values that no storage accepted

/** Return the value stored in this session under a name, or null. @param {string} name */
export const loadFromSession = (name) => read("sessionStorage", name);

/** Store a value in this session. @param {string} name @param {*} value serializable as JSON */
export const saveInSession = (name, value) => write("sessionStorage", name, value);

/** Return the value stored across visits under a name, or null. @param {string} name */
export const loadFromBrowser = (name) => read("localStorage", name);

/** Store a value across visits. @param {string} name @param {*} value serializable as JSON */
export const saveInBrowser = (name, value) => write("localStorage", name, value);

/** Remove all values of this session whose name begins with ``start``. @param {string} start */
export function removeFromSession(start) {
  for (const name of [...memory.keys()]) if (name.startsWith(start)) memory.delete(name);
  tryStorage("sessionStorage", (storage) => {
    for (const name of Object.keys(storage)) if (name.startsWith(PREFIX + start)) storage.removeItem(name);
  });
}

/** Return the value stored under a name, or null. @param {Kind} kind @param {string} name */
function read(kind, name) {
  const text = memory.get(name) ?? tryStorage(kind, (storage) => storage.getItem(PREFIX + name));
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null; // not written by this module
  }
}

/** Store a value, in memory if the storage refuses it. @param {Kind} kind @param {string} name @param {*} value */
function write(kind, name, value) {
  const text = JSON.stringify(value);
  memory.set(name, text);
  tryStorage(kind, (storage) => {
    storage.setItem(PREFIX + name, text);
    memory.delete(name);
  });
}

/**
 * Call a function with the browser's storage and return its result, or undefined if storage is denied or full.
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

/** Return this session's random id, which limits it to one active run and one study. @returns {string} */
export function getOwner() {
  const stored = loadFromSession("owner");
  if (stored) return stored;
  const created = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  saveInSession("owner", created);
  return created;
}
