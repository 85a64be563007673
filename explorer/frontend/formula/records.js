// Safe lookup by names that users choose, such as "constructor", which every JavaScript object inherits.

/**
 * Return a property of an object itself, or undefined if it only inherits that name or lacks it.
 * @template T @param {Record<string, T>} record @param {string} name
 */
export function getOwn(record, name) {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
