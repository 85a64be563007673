// Closing of Streamlit's dialog about a lost connection, because the page works without a connection.

/** Close Streamlit's dialog about a lost connection whenever it appears. */
export function closeConnectionDialogs() {
  new MutationObserver(() => {
    const dialog = document.querySelector(".stDialog");
    if (dialog?.textContent?.includes("Connection error")) close(dialog);
  }).observe(document.body, { childList: true, subtree: true });
}

/** Click the close button of a dialog. @param {Element} dialog */
function close(dialog) {
  /** @type {HTMLElement|null} */ (dialog.querySelector('[aria-label="Close"]'))?.click();
}
