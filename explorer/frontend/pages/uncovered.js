// Streamlit covers the page with a dialog when its connection is lost; the instrument goes on without it.

/** Close that dialog as often as it appears. */
export function stayUncovered() {
  new MutationObserver(() => {
    const dialog = document.querySelector(".stDialog");
    if (dialog?.textContent?.includes("Connection error")) close(dialog);
  }).observe(document.body, { childList: true, subtree: true });
}

/** @param {Element} dialog */
function close(dialog) {
  /** @type {HTMLElement|null} */ (dialog.querySelector('[aria-label="Close"]'))?.click();
}
