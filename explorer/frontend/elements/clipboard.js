// The clipboard, whose use browsers may forbid.

/** Copy text to the clipboard. Resolves to whether the browser has allowed it. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
