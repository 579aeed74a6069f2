// Latency charts: the selected or last turn, and the whole day.

import { byId, showNote } from "./element.js";
import { Refused } from "./server.js";
import { t } from "./texts.js";
import { trend, verdict } from "./trend.js";
import { waterfall } from "./waterfall.js";

export class Timing {
  constructor(server) {
    this.server = server;
    this.place = byId("waterfall");
    this.title = byId("waterfall-title");
    this.day = byId("trend");
    this.records = [];
    this.record = null;
    new ResizeObserver(() => this.draw()).observe(this.place);
  }

  // The turns of today from the turn log, including those of the room and of other clients.
  async refresh() {
    try {
      const { data } = await this.server.get("/v1/turns");
      this.records = data.filter((one) => !["ring", "screen"].includes(one.source));
      this.record ??= this.records.at(-1) ?? null;
      this.draw();
    } catch (error) {
      if (error instanceof Refused) this.day.textContent = error.message;
    }
  }

  show(record) {
    this.record = record;
    this.draw();
  }

  draw() {
    const width = Math.floor(this.place.clientWidth);
    if (width === 0) return; // it is not in view
    if (this.record !== null) {
      this.title.textContent = this.record.heard ? `“${this.record.heard}”` : t("lastTurn");
      this.place.replaceChildren(waterfall(this.record, width));
      showNote(byId("verdict"), verdict(this.record, this.records));
    }
    if (this.records.length > 0) this.day.replaceChildren(trend(this.records, width));
  }
}
