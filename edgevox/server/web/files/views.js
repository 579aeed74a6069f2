// The views of the page: side by side on a wide screen, one at a time on a narrow one.

import { byId } from "./element.js";

const WIDE = matchMedia("(min-width: 60rem)");

export class Views {
  constructor() {
    this.links = [...document.querySelectorAll("nav a")];
    for (const link of this.links) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.show(link.dataset.view);
      });
    }
    WIDE.addEventListener("change", () => this.mark());
    this.mark();
  }

  isShown(view) {
    return WIDE.matches || document.body.dataset.view === view;
  }

  show(view) {
    document.body.dataset.view = view;
    this.mark();
    if (WIDE.matches) byId(view).scrollIntoView({ block: "start" });
    else byId("panels").scrollTop = 0;
    byId(`${view}-title`).focus({ preventScroll: true });
  }

  mark() {
    for (const link of this.links) {
      const isHere = link.dataset.view === document.body.dataset.view;
      if (isHere && !WIDE.matches) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
}
