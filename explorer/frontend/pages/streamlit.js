// Changes to Streamlit: one theme for all pages, and no dialog about a lost connection.

const SHARED = "gradient-explorer.theme";

/**
 * Apply the theme chosen last on any page to this one, before Streamlit reads it, and share a change when the visitor
 * leaves. The key is private to Streamlit (tried with 1.67): with another key, each page keeps its own theme.
 */
export function shareTheme() {
  const key = `stActiveTheme-${location.pathname}-v2`; // of the page that was loaded, also after navigation
  try {
    const shared = localStorage.getItem(SHARED);
    if (shared) localStorage.setItem(key, shared);
    else if (shared === "") localStorage.removeItem(key); // the system's theme
    const before = localStorage.getItem(key);
    addEventListener("pagehide", () => {
      const now = localStorage.getItem(key);
      if (now !== before) localStorage.setItem(SHARED, now ?? "");
    });
  } catch {
    // The browser blocks storage: Streamlit cannot keep a theme either.
  }
}

/** Close Streamlit's dialog about a lost connection whenever it appears, because the page needs no connection. */
export function closeConnectionDialogs() {
  new MutationObserver(() => {
    const dialog = document.querySelector(".stDialog");
    if (!dialog?.textContent?.includes("Connection error")) return;
    /** @type {HTMLElement|null} */ (dialog.querySelector('[aria-label="Close"]'))?.click();
  }).observe(document.body, { childList: true, subtree: true });
}
