// The rooms with a satellite: who is listening, muting one, and a sentence to test it.

import { element, labelled } from "./element.js";
import { KeyedList } from "./list.js";
import { showNote } from "./markdown.js";
import { Polling } from "./polling.js";
import { known, spoken, t } from "./texts.js";

const LOOK_EVERY_MS = 3_000;

export class Rooms {
  constructor(server) {
    this.server = server;
    this.note = element("p", { class: "note", role: "status", hidden: true });
    this.said = element("p", { class: "result", role: "status", hidden: true });
    const place = element("ul");
    this.element = element("div", { class: "satellites" }, this.note, place, this.said);
    this.list = new KeyedList(place, (satellite) => this.satellite(satellite));
    this.polling = new Polling(LOOK_EVERY_MS, () => this.refresh(), this.element);
  }

  watch() {
    return this.polling.start();
  }

  rest() {
    this.polling.stop();
  }

  async refresh() {
    const show = ({ data }) => {
      this.list.show(data.map(({ name, room, kind, is_muted: isMuted, is_connected: isConnected, state, problem }) => ({ id: name, room, kind, isMuted, isConnected, state, problem })));
      showNote(this.note, data.length === 0 ? t("noSatellites") : "");
    };
    await this.server.show("/v1/satellites", show, ({ status, message }) => {
      if (status === 404) this.rest(); // this server has no satellites
      else showNote(this.note, message);
    });
  }

  satellite({ id, room, kind, isMuted, isConnected, state, problem }) {
    const name = room || id;
    const doing = isMuted ? t("muted") : isConnected ? stateName(state) : problem || t("state.offline");
    const change = ({ target }) => void this.act("patch", id, { is_muted: !target.checked }, () => "");
    const listens = element("input", { type: "checkbox", role: "switch", checked: !isMuted, change, "aria-label": `${t("listens")}: ${name}` });
    const said = ({ is_spoken: isSpoken }) => t(isSpoken ? "spokeThere" : "notHeardThere", { room: name });
    const test = labelled(t("test.rooms"), name, () => void this.act("post", `${id}/say`, { text: spoken("check.sample") }, said));
    test.disabled = !isConnected;
    return element(
      "li",
      { class: "plan", "data-satellite": id },
      element("span", { class: "name" }, name, element("span", { class: "about" }, `${id} · ${kind}`)),
      element("span", { class: "phrase" }, doing),
      element("div", { class: "row" }, element("label", { class: "switch" }, listens, t("listens")), test),
    );
  }

  async act(method, path, body, words) {
    showNote(this.said, await this.server[method](`/v1/satellites/${path}`, body).then(words, (error) => error.message));
    await this.refresh();
  }
}

function stateName(state) {
  const key = `state.${state === "listening" ? "microphone" : state}`;
  return known(key) ? t(key) : state;
}
