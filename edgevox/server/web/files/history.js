// What was said before, from the records of the server: by day, in one room, by one person, and found by its words.

import { byId, element } from "./element.js";
import { showNote } from "./markdown.js";
import { dayName, t } from "./texts.js";
import { speakerName, Turn } from "./turn.js";

const SEARCH_AFTER_MS = 300;
const COPIED_MS = 3_000;
const FILTERS = { room: "rooms", speaker: "speakers" }; // the names of the query and of the values in the answer

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
    this.copy = byId("history-copy");
    this.copy.hidden = !navigator.clipboard; // which browsers give to https and localhost only
    this.copy.addEventListener("click", () => void this.copyShown());
    this.asked = 0;
    this.filters = Object.keys(FILTERS).map((name) => byId(`history-${name}`));
    for (const filter of this.filters) filter.addEventListener("change", () => void this.find());
  }

  get words() {
    return this.search.value.trim();
  }

  // Whether the conversation as it is now is shown, and not only a part of the past.
  get isWhole() {
    return this.words === "" && this.filters.every(({ value }) => value === "");
  }

  // The turns of today, or of the last day before it.
  async begin() {
    if (this.list.childElementCount > 0) return;
    await this.recent();
    byId("turns").scrollTop = byId("turns").scrollHeight;
  }

  // Back to the conversation: what is asked now must be seen.
  clear() {
    if (this.isWhole) return;
    for (const field of [this.search, ...this.filters]) field.value = "";
    void this.find();
  }

  async recent() {
    const earlier = await this.load();
    if (this.list.childElementCount === 0 && earlier) await this.load(earlier);
  }

  // Adds a day above those that are shown; returns the one before it.
  async load(day) {
    const answer = await this.read("/v1/turns", day ? { day } : {});
    if (answer === null) return null;
    const { day: date, data, earlier } = answer;
    this.offer(answer);
    const turns = data.filter((record) => isWorded(record) && !(this.isWhole && this.on.isShown(record.turn_id)));
    if (turns.length > 0) {
      this.list.prepend(element("li", { class: "day" }, element("h3", {}, day === undefined ? t("today") : dayName(date))), ...turns.map((one) => this.turn(one)));
      this.on.said(turns.filter(({ source }) => source === "text" || source === "voice").map(({ heard }) => heard));
      byId("welcome").hidden = true;
    }
    this.place.hidden = this.list.childElementCount === 0 && !earlier && this.isWhole;
    this.earlier.hidden = !earlier;
    if (earlier) {
      this.earlier.dataset.day = earlier;
      this.earlier.textContent = t("earlier", { day: dayName(earlier) });
    }
    return earlier;
  }

  // The rooms and people that can be chosen, of the turns that are kept now.
  offer(answer) {
    if (answer.data.length > 0) this.place.hidden = false;
    for (const [at, [name, values]] of Object.entries(FILTERS).entries()) {
      const filter = this.filters[at];
      const known = answer[values] ?? [];
      filter.hidden = known.length === 0 && filter.value === "";
      if (known.every((value) => [...filter.options].some((option) => option.value === value))) continue;
      const chosen = filter.value;
      filter.replaceChildren(element("option", { value: "" }, t(`all.${name}`)), ...known.map((value) => element("option", { value }, name === "speaker" ? speakerName(value) : value)));
      filter.value = chosen;
    }
  }

  // Shows the turns that contain the words, or those of a room or a person, instead of the conversation.
  async find() {
    byId("turn-list").hidden = !this.isWhole;
    this.list.replaceChildren();
    showNote(this.note, "");
    if (this.words === "") {
      await this.recent();
      if (!this.isWhole && this.list.childElementCount === 0) showNote(this.note, t("nothingFound"));
      return;
    }
    const found = await this.read("/v1/turns/search", { words: this.words });
    if (found === null) return;
    this.earlier.hidden = true;
    this.list.replaceChildren(...found.data.map((record) => this.turn(record, true)));
    showNote(this.note, found.data.length === 0 ? t("nothingFound") : t("found", { count: found.data.length }));
  }

  // Copies what is shown: days, and for each turn who asked what, and the answer.
  async copyShown() {
    const text = (node, selector) => node.querySelector(selector)?.textContent ?? "";
    const shown = document.querySelectorAll("#past > li, #turn-list:not([hidden]) > li");
    const parts = [...shown].map((item) => {
      if (item.matches(".day")) return item.textContent;
      const said = item.matches("[data-source=screen]") ? text(item, ".summary") : text(item, ".said");
      return [[text(item, ".from"), said].filter(Boolean).join(": "), text(item, ".reply")].filter(Boolean).join("\n");
    });
    await navigator.clipboard.writeText(parts.join("\n\n"));
    this.copy.textContent = t("copied");
    setTimeout(() => (this.copy.textContent = t("copyAll")), COPIED_MS);
  }

  // Null if it was refused, or something else was asked for meanwhile.
  async read(path, query) {
    const number = (this.asked += 1);
    const chosen = Object.fromEntries(Object.keys(FILTERS).map((name, at) => [name, this.filters[at].value]));
    const asked = new URLSearchParams(Object.entries({ ...query, ...chosen }).filter(([, value]) => value !== ""));
    let answer = null;
    await this.server.show(`${path}?${asked}`, (given) => (answer = given), ({ message }) => showNote(this.note, message));
    return number === this.asked ? answer : null;
  }

  turn(record, isDated = false) {
    const turn = new Turn(record.source, "past", { repeat: this.on.repeat });
    turn.recall(record, isDated);
    return turn.element;
  }
}

// Records can be kept without their words.
function isWorded({ heard, reply }) {
  return heard !== "" || reply !== "";
}
