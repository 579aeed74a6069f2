// Shows the areas and entities of the home; polls while the view is visible.

import { byId, element } from "./element.js";
import { iconOf } from "./icons.js";
import { Refused } from "./server.js";

const LOOK_EVERY_MS = 2_000;
const NEWS_MS = 2_500; // as long as its animation
const ELSEWHERE = { id: null, name: "Elsewhere" };
const AT_REST = new Set(["off", "closed", "locked", "idle", "docked", "disarmed", "standby", "unavailable", "unknown", "never"]);
const WITHOUT_REST = new Set(["sensor", "weather", "scene", "todo", "button", "event"]);

export class Home {
  constructor(server) {
    this.server = server;
    this.rooms = byId("rooms");
    this.note = byId("home-note");
    this.shown = new Map();
    this.layout = "";
    this.scheduleWords = "[]";
  }

  watch() {
    clearInterval(this.timer);
    this.timer = setInterval(() => {
      if (!document.hidden) void this.refresh();
    }, LOOK_EVERY_MS);
    return this.refresh();
  }

  rest() {
    clearInterval(this.timer);
  }

  async refresh() {
    try {
      this.show(await this.server.get("/v1/home"));
      this.showSchedule(await this.server.get("/v1/schedule"));
    } catch (error) {
      if (error instanceof Refused) this.say(error.status === 404 ? "The assistant has no home here." : error.message);
    }
  }

  show({ areas, things, problem, kind }) {
    this.say(problem || (kind === "demo" ? "A home to try things in. edgevox home setup connects yours." : ""));
    const layout = things.map((thing) => `${thing.area}/${thing.id}/${thing.name}`).join();
    if (layout !== this.layout) this.build(areas, things);
    this.layout = layout;
    for (const thing of things) this.update(thing);
  }

  // Timers, alarms, reminders, schedules and watches, each with a button that cancels it.
  showSchedule({ data }) {
    const words = JSON.stringify(data);
    if (words === this.scheduleWords) return;
    this.scheduleWords = words;
    byId("schedule").hidden = data.length === 0;
    byId("schedule-list").replaceChildren(...data.map((entry) => this.scheduled(entry)));
  }

  scheduled({ id, kind, text, when }) {
    const button = element("button", { type: "button", "aria-label": `Cancel: ${text || kind}` }, "Cancel");
    button.addEventListener("click", async () => {
      await this.server.delete(`/v1/schedule/${id}`).catch((error) => this.say(error.message));
      await this.refresh();
    });
    return element(
      "li",
      { class: "thing", "data-scheduled": id },
      element("span", { class: "name" }, kind === "watch" ? when : text || kind),
      element("span", { class: "phrase" }, kind === "watch" ? "" : when),
      button,
    );
  }

  build(areas, things) {
    this.shown.clear();
    const places = [...areas, ELSEWHERE].map((area) => [area, things.filter((thing) => (thing.area ?? null) === area.id)]);
    const cards = places.filter(([, inside]) => inside.length > 0).map(([area, inside]) => this.room(area, inside));
    this.rooms.replaceChildren(...cards);
  }

  room(area, things) {
    const items = things.map((thing) => {
      const item = element("li", { "data-thing": thing.id });
      this.shown.set(thing.id, { item, words: null });
      return item;
    });
    return element("section", { class: "room card" }, element("h3", {}, area.name), element("ul", {}, ...items));
  }

  update(thing) {
    const entry = this.shown.get(thing.id);
    const words = inWords(thing);
    if (entry.words === words) return;
    const isNews = entry.words !== null;
    entry.words = words;
    entry.item.className = isActive(thing) ? "thing active" : "thing";
    entry.item.dataset.state = thing.state;
    entry.item.replaceChildren(
      iconOf(thing),
      element("span", { class: "name" }, thing.name),
      element("span", { class: "phrase" }, words),
    );
    if (!isNews) return;
    entry.item.classList.add("changed");
    setTimeout(() => entry.item.classList.remove("changed"), NEWS_MS);
  }

  say(words) {
    this.note.textContent = words;
    this.note.hidden = words === "";
  }
}

function isActive(thing) {
  return !AT_REST.has(thing.state) && !WITHOUT_REST.has(thing.domain);
}

// The state as text, with its most important figure.
function inWords({ domain, state, phrase, attributes }) {
  const figure = { light: percent(attributes.brightness), fan: percent(attributes.percentage), climate: degrees(attributes) }[domain];
  if (figure && state !== "off") return `${phrase} · ${figure}`;
  if (domain === "cover" && attributes.position > 0 && attributes.position < 100) return `${attributes.position} % open`;
  if (domain === "weather" && degrees(attributes)) return `${phrase} · ${degrees(attributes)}`;
  if (domain === "todo") return state === "1" ? "1 item" : `${state} items`;
  return domain === "scene" ? "" : phrase;
}

function percent(value) {
  return value > 0 && value < 100 ? `${value} %` : "";
}

function degrees({ temperature, unit }) {
  return typeof temperature === "number" ? `${temperature} ${unit ?? "°"}` : "";
}
