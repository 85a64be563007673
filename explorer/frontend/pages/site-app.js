// Pages of the static site that need the app. They link to an app on the user's own computer, with the same settings.

import { fillHeading, setLinkQuery, start } from "./site.js";

fillHeading();
setLinkQuery(location.search);
const way = /** @type {HTMLAnchorElement} */ (document.querySelector("main a.local"));
way.href = `${start.local}${location.search}`;
