// Latency charts: the selected or last turn, and the whole day.

import { byId } from "./element.js";
import { showNote } from "./markdown.js";
import { quoted, t } from "./texts.js";
import { trend, verdict } from "./trend.js";
import { waterfall } from "./waterfall.js";

export class Timing {
  /** `read(turns)` gets the turns of today as the server answers them. */
  constructor(server, read) {
    this.server = server;
    this.read = read;
    this.place = byId("waterfall");
    this.title = byId("waterfall-title");
    this.day = byId("trend");
    this.records = [];
    this.record = null;
    new ResizeObserver(() => this.draw()).observe(this.place);
  }

  // The turns of today from the turn log, including those of the room and of other clients.
  async refresh() {
    const show = (turns) => {
      this.read(turns);
      this.records = turns.data.filter((one) => !["ring", "screen"].includes(one.source));
      this.record ??= this.records.at(-1) ?? null;
      this.draw();
    };
    await this.server.show("/v1/turns", show, ({ message }) => showNote(this.day, message));
  }

  show(record) {
    this.record = record;
    this.draw();
  }

  draw() {
    const width = Math.floor(this.place.clientWidth);
    if (width === 0) return; // it is not in view
    if (this.record !== null) {
      this.title.textContent = this.record.heard ? quoted(this.record.heard) : t("lastTurn");
      this.place.replaceChildren(waterfall(this.record, width));
      showNote(byId("verdict"), verdict(this.record, this.records));
    }
    if (this.records.length > 0) this.day.replaceChildren(trend(this.records, width));
  }
}
