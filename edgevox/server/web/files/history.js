// What was said before, from the records of the server: by day, and found by its words.

import { byId, element, showNote } from "./element.js";
import { Refused } from "./server.js";
import { language, t } from "./texts.js";
import { Turn } from "./turn.js";

const SEARCH_AFTER_MS = 300;

export class History {
  /** `on` has isShown(turnId): whether the turn is shown already, repeat(text) and said(texts), the latest last. */
  constructor(server, on) {
    this.server = server;
    this.on = on;
    this.place = byId("history");
    this.list = byId("past");
    this.note = byId("history-note");
    this.earlier = byId("history-earlier");
    this.earlier.addEventListener("click", () => void this.load(this.earlier.dataset.day));
    this.search = byId("history-search");
    this.search.addEventListener("input", () => {
      clearTimeout(this.searching);
      this.searching = setTimeout(() => void this.find(), SEARCH_AFTER_MS);
    });
  }

  // The turns of today, or of the last day before it.
  async begin() {
    if (this.list.childElementCount > 0) return;
    const { turns, earlier } = await this.load();
    if (turns === 0 && earlier) await this.load(earlier);
    byId("turns").scrollTop = byId("turns").scrollHeight;
  }

  // Adds a day above those that are shown.
  async load(day) {
    const { day: date, data, earlier } = await this.read(`/v1/turns${day ? `?day=${day}` : ""}`);
    const turns = data.filter((record) => isWorded(record) && !this.on.isShown(record.turn_id));
    if (turns.length > 0) {
      this.list.prepend(element("li", { class: "day" }, element("h3", {}, dayName(date, day === undefined))), ...turns.map((one) => this.turn(one)));
      this.on.said(turns.filter(({ source }) => source === "text" || source === "voice").map(({ heard }) => heard));
      byId("welcome").hidden = true;
    }
    this.place.hidden = this.list.childElementCount === 0 && !earlier;
    this.earlier.hidden = !earlier;
    if (earlier) {
      this.earlier.dataset.day = earlier;
      this.earlier.textContent = t("earlier", { day: dayName(earlier) });
    }
    return { turns: turns.length, earlier };
  }

  // Shows the turns that contain these words instead of the conversation.
  async find() {
    const words = this.search.value.trim();
    byId("turn-list").hidden = words !== "";
    if (words === "") {
      this.list.replaceChildren();
      showNote(this.note, "");
      await this.load();
      return;
    }
    const { data } = await this.read(`/v1/turns/search?words=${encodeURIComponent(words)}`);
    this.earlier.hidden = true;
    this.list.replaceChildren(...data.map((record) => this.turn(record)));
    showNote(this.note, data.length === 0 ? t("nothingFound") : t("found", { count: data.length }));
  }

  async read(path) {
    try {
      return await this.server.get(path);
    } catch (error) {
      if (error instanceof Refused) showNote(this.note, error.message);
      return { data: [], earlier: null };
    }
  }

  turn(record) {
    const turn = new Turn(record.source, "past", { repeat: this.on.repeat });
    turn.recall(record);
    return turn.element;
  }
}

// Records can be kept without their words.
function isWorded({ heard, reply }) {
  return heard !== "" || reply !== "";
}

function dayName(day, isToday = false) {
  if (isToday) return t("today");
  return new Date(`${day}T12:00`).toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long" });
}
