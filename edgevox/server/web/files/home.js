// Shows the areas and entities of the home; polls while the view is visible.

import { byId, element } from "./element.js";
import { showNote } from "./markdown.js";
import { Polling } from "./polling.js";
import { known, language, t } from "./texts.js";
import { Thing } from "./thing.js";

const LOOK_EVERY_MS = 2_000;

export class Home {
  /** `act(tool, arguments)` makes a tool call. */
  constructor(server, act) {
    this.server = server;
    this.act = act;
    this.rooms = byId("rooms");
    this.note = byId("home-note");
    this.search = byId("home-search");
    this.search.addEventListener("input", () => this.filter());
    this.shown = new Map();
    this.layout = "";
    this.about = "";
    this.polling = new Polling(LOOK_EVERY_MS, () => this.refresh());
  }

  watch() {
    return this.polling.start();
  }

  rest() {
    this.polling.stop();
  }

  async refresh() {
    const refused = ({ status, message }) => showNote(this.note, status === 404 ? t("noHome") : message);
    await this.server.show(`/v1/home?language=${language}`, (home) => this.show(home), refused);
  }

  show({ areas, things, problem, kind }) {
    this.about = problem || (kind === "demo" ? t("demoHome") : "");
    const layout = things.map((thing) => `${thing.area}/${thing.id}/${thing.name}`).join();
    if (layout !== this.layout) this.build(areas, things);
    this.layout = layout;
    for (const thing of things) this.shown.get(thing.id).update(thing);
    this.filter();
  }

  build(areas, things) {
    this.shown.clear();
    const labels = labelsOf(things, areas);
    const places = [...areas, { id: null, name: t("elsewhere") }].map((area) => [area, things.filter((thing) => (thing.area ?? null) === area.id)]);
    this.rooms.replaceChildren(...places.filter(([, inside]) => inside.length > 0).map(([area, inside]) => this.room(area, inside, labels)));
  }

  room(area, things, labels) {
    const items = things.map((thing) => {
      const act = (tool, values) => this.act(tool, { ...values, entity_ids: [thing.id] });
      const changes = () => this.server.get(`/v1/home/${thing.id}/changes?language=${language}`);
      const item = new Thing(thing, labels.get(thing.id), act, changes);
      this.shown.set(thing.id, item);
      return item.element;
    });
    return element("section", { class: "room card", "data-area": area.name.toLowerCase() }, element("h3", {}, area.name), element("ul", {}, ...items));
  }

  // Shows what has all words of the search in its name, its kind, its state or the name of its room.
  filter() {
    const words = this.search.value.toLowerCase().split(" ").filter(Boolean);
    for (const { element: item, searched } of this.shown.values()) {
      const text = `${searched} ${item.closest(".room").dataset.area}`;
      item.hidden = !words.every((word) => text.includes(word));
    }
    for (const room of this.rooms.children) room.hidden = room.querySelector("li:not([hidden])") === null;
    const isNone = words.length > 0 && this.rooms.querySelector(".room:not([hidden])") === null;
    showNote(this.note, isNone ? t("nothingLike") : this.about);
  }
}

// The name of each entity; one that several have gets its kind ("Front Door lock"), its room, or its id.
function labelsOf(things, areas) {
  const labels = new Map(things.map((thing) => [thing.id, thing.name]));
  for (const more of [
    ({ domain }) => (known(`kind.${domain}`) ? t(`kind.${domain}`) : domain.replaceAll("_", " ")),
    ({ area }) => `(${areas.find((one) => one.id === area)?.name ?? t("elsewhere")})`,
    ({ id }) => `(${id})`,
  ]) {
    const counts = Map.groupBy(things, ({ id }) => labels.get(id).toLowerCase());
    for (const same of counts.values()) {
      if (same.length > 1) for (const thing of same) labels.set(thing.id, `${labels.get(thing.id)} ${more(thing)}`);
    }
  }
  return labels;
}
