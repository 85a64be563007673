// Streamlit's dialog about a lost connection, closed because the page needs no connection.

/** Close Streamlit's dialog about a lost connection whenever it appears. */
export function closeConnectionDialogs() {
  new MutationObserver(() => {
    const dialog = document.querySelector(".stDialog");
    if (dialog?.textContent?.includes("Connection error")) close(dialog);
  }).observe(document.body, { childList: true, subtree: true });
}

/** @param {Element} dialog */
function close(dialog) {
  /** @type {HTMLElement|null} */ (dialog.querySelector('[aria-label="Close"]'))?.click();
}
