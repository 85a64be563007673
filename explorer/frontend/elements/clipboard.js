// The clipboard, which a browser may forbid.

/** Copy a text, and tell whether that was allowed. @param {string} text */
export async function isCopied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
