// Lookup by names that a user chooses, such as "constructor", which plain access would find in the prototype.

/**
 * Return the value of a record's own property, or undefined.
 * @template T
 * @param {Record<string, T>} record
 * @param {string} name
 */
export function getOwn(record, name) {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
