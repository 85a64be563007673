// Names of a table's columns or classes, shortened for a text.

/**
 * Return names separated by commas, up to a number of characters, with "…" for the rest. Returns "" if none fits.
 * @param {string[]} names @param {number} most maximum number of characters
 */
export function shortenNames(names, most) {
  const all = names.join(", ");
  if (all.length <= most) return all;
  const count = names.findIndex((_, at) => names.slice(0, at + 1).join(", ").length + 3 > most);
  return count > 0 ? `${names.slice(0, count).join(", ")}, …` : "";
}
