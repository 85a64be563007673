// The theme that a visitor chooses holds on all pages, although Streamlit stores it for each page separately.

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
