// Plotly, and the parts that all its charts share.

const NARROW = 600;
const STAGE = 1200;
const LETTERS = 5; // of a label at the right end that there is always room for half of
const GRID = "rgba(127, 133, 143, 0.25)";
const CLEAR = "rgba(0, 0, 0, 0)";

/** The width of a digit in a wide font, in heights of letters. */
export const DIGIT = 0.65;
/** Whatever is grasped is ours: Plotly only draws. */
export const CONFIG = {
  staticPlot: true,
  displayModeBar: false,
  displaylogo: false,
  showSendToCloud: false,
  responsive: false,
};
/** How every axis looks. */
export const AXIS = { gridcolor: GRID, zerolinecolor: GRID, fixedrange: true, automargin: false };

let loading = /** @type {Promise<*>|null} */ (null);

/** Plotly, fetched once for all charts of a page. @param {string|Promise<*>} address of plotly.js, or Plotly itself to come */
export function loadPlotly(address) {
  if (typeof address !== "string") return address;
  const global = /** @type {*} */ (window);
  if (global.Plotly) return Promise.resolve(global.Plotly);
  loading ??= new Promise((resolve, reject) => {
    // The page's head may already be fetching it.
    const wanted = new URL(address, document.baseURI).href;
    const begun =
      document.readyState === "complete" ? null : [...document.scripts].find(({ src }) => src === wanted);
    const script = begun ?? document.createElement("script");
    script.onload = () => resolve(global.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error("The chart could not be loaded: reload the page to try again"));
    };
    if (begun) {
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

/** @param {number} width of a chart, in px @param {number} smallest px of letters */
export function fontSize(width, smallest) {
  return Math.max(width < NARROW ? 11 : width > STAGE ? 16 : 13, smallest);
}

/**
 * The px beside the right end of an axis that half of a label there needs.
 * @param {number} size
 * @param {number} [letters]
 */
export function endMargin(size, letters = LETTERS) {
  return (DIGIT * size * letters) / 2 + 1;
}

/**
 * The part that the layouts of all charts share.
 * @param {import("./theme.js").Theme} theme
 * @param {{width: number, height: number, size: number}} space in px; ``size`` is that of letters
 */
export function groundOf(theme, { width, height, size }) {
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
 * A line of text in a chart.
 * @param {string} text
 * @param {Object<string, *>} position as shares of the panels
 */
export function note(text, position) {
  return { text: escaped(text), xref: "paper", yref: "paper", showarrow: false, borderpad: 2, ...position };
}

/** Text as it stands: Plotly would read a small HTML dialect in names. @param {string} text */
export function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
