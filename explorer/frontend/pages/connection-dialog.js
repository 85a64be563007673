// Streamlit's dialog about a lost connection, which covers the page although the instrument works without one.

/** Close the dialog whenever it appears. */
export function closeConnectionDialogs() {
  new MutationObserver(() => {
    const dialog = document.querySelector(".stDialog");
    if (dialog?.textContent?.includes("Connection error")) close(dialog);
  }).observe(document.body, { childList: true, subtree: true });
}

/** Click a dialog's close button. @param {Element} dialog */
function close(dialog) {
  /** @type {HTMLElement|null} */ (dialog.querySelector('[aria-label="Close"]'))?.click();
}
