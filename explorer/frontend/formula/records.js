// Safe lookup by names that users choose, such as "constructor", which every JavaScript object inherits.

/**
 * Return an object's own property, or undefined if it has none with that name.
 * @template T @param {Record<string, T>} record @param {string} name
 */
export function getOwn(record, name) {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
