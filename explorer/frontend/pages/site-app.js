// The pages that need the app: where the same link leads once it runs on this machine.

import { arrange, carryOn, start } from "./site.js";

arrange();
carryOn(location.search);
const way = /** @type {HTMLAnchorElement} */ (document.querySelector("main a.local"));
way.href = `${start.local}${location.search}`;
