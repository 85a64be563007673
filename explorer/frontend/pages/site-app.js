// Pages of the site that need the app: they link to the same choice in an app on the visitor's machine.

import { fillHeading, setLinkQuery, start } from "./site.js";

fillHeading();
setLinkQuery(location.search);
const way = /** @type {HTMLAnchorElement} */ (document.querySelector("main a.local"));
way.href = `${start.local}${location.search}`;
