// Tool statistics: offered, chosen, refused and duration.

import { byId, element } from "./element.js";
import { showNote } from "./markdown.js";
import { fromServer, serverLanguage, t } from "./texts.js";
import { milliseconds } from "./waterfall.js";

const SHOWN_FIRST = 8;

export class Tools {
  constructor(server) {
    this.server = server;
    this.place = byId("tool-list");
    this.isWhole = false;
  }

  async refresh() {
    await this.server.show("/v1/tools/stats", (stats) => this.show(stats), ({ message }) => showNote(this.place, message));
  }

  show({ data, not_offered: absent }) {
    const rows = data.toSorted((one, other) => other.chosen - one.chosen || other.offered - one.offered);
    const heads = ["tool", "offered", "chosen", "refused", "failed", "time"].map((word) => element("th", { scope: "col" }, t(`column.${word}`)));
    const shown = this.isWhole ? rows : rows.slice(0, SHOWN_FIRST);
    this.place.replaceChildren(
      element("table", { class: "tools" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...shown.map(row))),
      rows.length > SHOWN_FIRST ? this.more(rows.length) : "",
      leftOut(absent),
    );
  }

  more(count) {
    const click = () => {
      this.isWhole = !this.isWhole;
      void this.refresh();
    };
    const words = this.isWhole ? t("mostUsed") : t("allTools", { count });
    return element("button", { type: "button", class: "link", "aria-expanded": `${this.isWhole}`, click }, words);
  }
}

function row(tool) {
  const failed = tool.failed + tool.timed_out;
  const key = `tool.${tool.name}`;
  const about = element("span", { class: "about", lang: serverLanguage(key) }, fromServer(key, tool.description));
  const name = element("th", { scope: "row" }, element("code", {}, tool.name), about);
  const counts = [tool.offered, tool.chosen, tool.refused, failed].map((count) => element("td", {}, count ? `${count}` : "–"));
  return element("tr", { "data-tool": tool.name }, name, ...counts, element("td", {}, tool.chosen ? milliseconds(tool.mean_ms) : "–"));
}

function leftOut(absent) {
  const names = Object.entries(absent);
  if (names.length === 0) return "";
  const items = names.map(([name, why]) => element("li", {}, element("code", {}, name), ` ${why}`));
  return element("details", {}, element("summary", {}, t("notOffered", { count: names.length })), element("ul", { class: "plain" }, ...items));
}
