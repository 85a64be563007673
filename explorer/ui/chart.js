// A Plotly chart that stays the same element: Plotly.react on every new specification.

let loading = null;

function plotly(version) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    // The pages lie one level deep, so a relative address is right on each of them.
    script.src = new URL(`assets/plotly-${version}.min.js`, document.baseURI).href;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error("plotly.js could not be loaded: reload the page to try again"));
    };
    document.head.appendChild(script);
  });
  return loading;
}

const states = new WeakMap();

function themed(layout, parent, width) {
  const style = getComputedStyle(parent);
  const variable = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const narrow = width < 600;
  const stage = width > 1200;
  return {
    ...layout,
    height: narrow ? layout.meta.narrow : layout.meta.wide * (stage ? 1.25 : 1),
    autosize: true,
    font: { ...layout.font, color: variable("text-color"), family: variable("font"), size: narrow ? 11 : stage ? 17 : 13 },
    modebar: { orientation: "v", bgcolor: "rgba(0, 0, 0, 0)", color: variable("text-color") },
    hoverlabel: {
      ...layout.hoverlabel,
      bgcolor: variable("secondary-background-color"),
      font: { color: variable("text-color"), family: variable("font") },
    },
  };
}

export default function ({ parentElement, data }) {
  let state = states.get(parentElement);
  if (!state) states.set(parentElement, (state = { turn: 0, gone: false }));
  const turn = ++state.turn;
  const element = parentElement.querySelector(".chart");
  element.setAttribute("aria-label", data.words);
  plotly(data.version)
    .then((Plotly) => {
      if (turn !== state.turn || state.gone) return undefined;
      const layout = themed(data.layout, parentElement, element.clientWidth);
      return Plotly.react(element, data.data, layout, {
        responsive: true,
        displaylogo: false,
        showSendToCloud: false,
        modeBarButtonsToRemove: ["select2d", "lasso2d", "resetScale2d"],
        toImageButtonOptions: { format: "svg", filename: data.name },
      });
    })
    .catch((error) => {
      if (!state.gone) element.textContent = error.message;
    });
  return () => {
    state.gone = true;
    states.delete(parentElement);
    if (window.Plotly) window.Plotly.purge(element);
  };
}
