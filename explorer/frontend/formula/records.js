// Values by names that a user chooses: "constructor" and "toString" are names like any other.

/**
 * The value of a name; undefined where the record does not hold it itself.
 * @template T
 * @param {Record<string, T>} record
 * @param {string} name
 */
export function held(record, name) {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
