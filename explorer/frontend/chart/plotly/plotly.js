// Plotly, and the settings that all its charts have in common.

const NARROW = 600;
const STAGE = 1200;
const LETTERS = 5; // letters of a tick label that always fit at the right end of an axis
const CLEAR = "rgba(0, 0, 0, 0)";

/** Return a grey for lines and marks of no rule. It is visible on light and dark. @param {number} opacity */
export const makeGrey = (opacity) => `rgba(127, 133, 143, ${opacity})`;
const GRID = makeGrey(0.25);

/** The width of a digit in a wide font, as a multiple of the font size. */
export const DIGIT = 0.65;
/** Options that switch off the interaction of Plotly, for which this package has its own. */
export const CONFIG = {
  staticPlot: true,
  displayModeBar: false,
  displaylogo: false,
  showSendToCloud: false,
  responsive: false,
};
/** The settings of every Plotly axis. */
export const AXIS = {
  gridcolor: GRID,
  zerolinecolor: GRID,
  fixedrange: true,
  automargin: false,
  ticklabeloverflow: "allow", // hiding labels past the chart would measure each one
};

let loading = /** @type {Promise<*>|null} */ (null);

/**
 * Load Plotly unless the page has loaded it. Resolves to it, or rejects with a message for the user.
 * @param {string|Promise<*>} address the address of plotly.js, or a promise of Plotly
 */
export function loadPlotly(address) {
  if (typeof address !== "string") return address;
  const global = /** @type {*} */ (window);
  if (global.Plotly) return Promise.resolve(global.Plotly);
  loading ??= new Promise((resolve, reject) => {
    // A script element in the page's head may be loading this address already.
    const wanted = new URL(address, document.baseURI).href;
    const existing =
      document.readyState === "complete" ? null : [...document.scripts].find(({ src }) => src === wanted);
    const script = existing ?? document.createElement("script");
    script.onload = () => resolve(global.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error("The chart could not be loaded: reload the page to try again"));
    };
    if (existing) {
      window.addEventListener("load", () => global.Plotly || script.dispatchEvent(new Event("error")), {
        once: true,
      });
      return;
    }
    script.src = address;
    document.head.append(script);
  });
  return loading;
}

/**
 * Return the font size for a chart, in px.
 * @param {number} width width of the chart in px @param {number} smallest minimum font size in px
 */
export function chooseFontSize(width, smallest) {
  return Math.max(width < NARROW ? 11 : width > STAGE ? 16 : 13, smallest);
}

/**
 * Return the px by which half of the last tick label exceeds the right end of an axis.
 * @param {number} size font size in px @param {number} [letters] length of the label
 */
export function getEndMargin(size, letters = LETTERS) {
  return (DIGIT * size * letters) / 2 + 1;
}

/**
 * Return the part of Plotly's layout that all charts share.
 * @param {import("./theme.js").Theme} theme
 * @param {{width: number, height: number, size: number}} space sizes in px; ``size``: font size
 */
export function makeBaseLayout(theme, { width, height, size }) {
  return {
    width,
    height,
    showlegend: false,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    font: { color: theme.text, family: theme.font, size },
  };
}

/**
 * Return a Plotly annotation with one line of text.
 * @param {string} text
 * @param {Object<string, *>} position its place in Plotly's format, as fractions of the panels' size
 */
export function makeNote(text, position) {
  return {
    text: escapeHtml(text),
    xref: "paper",
    yref: "paper",
    showarrow: false,
    borderpad: 2,
    ...position,
  };
}

/** Escape text for Plotly, which interprets some HTML in labels. @param {string} text */
export function escapeHtml(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
