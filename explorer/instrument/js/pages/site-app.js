// The pages that need the app: where the same link leads once it runs on this machine.

import { arrange, start } from "./site.js";

arrange();
const way = /** @type {HTMLAnchorElement} */ (document.querySelector("main a.local"));
way.href = `${start.local}${location.search}`;
