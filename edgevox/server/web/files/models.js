// Models, voices and the voice encoder: which are installed, and downloads with their progress.

import { byId, element, labelled } from "./element.js";
import { KeyedList } from "./list.js";
import { t } from "./texts.js";

const LOOK_EVERY_MS = 500;
const KINDS = ["stt", "llm"]; // the others are shown where they are used

export class Models {
  /** `voices` shows the voices, with their downloads, and `people` the voice encoder. */
  constructor(server, voices, people) {
    this.server = server;
    this.voices = voices;
    this.people = people;
    this.list = new KeyedList(byId("models"), (model) => this.model(model));
    voices.download = (model) => this.download(model);
  }

  async refresh() {
    clearTimeout(this.timer);
    const number = (this.asked = (this.asked ?? 0) + 1);
    const show = ({ data }) => {
      if (number !== this.asked) return; // an answer from before a download began
      this.list.show(KINDS.flatMap((kind) => data.filter((model) => model.kind === kind)));
      void this.voices.show(data.filter((model) => model.kind === "tts"));
      const encoder = data.find((model) => model.kind === "speaker");
      this.people.need(encoder && isMissing(encoder) ? this.download(encoder) : null);
      if (data.some((model) => model.is_running)) this.timer = setTimeout(() => void this.refresh(), LOOK_EVERY_MS);
    };
    await this.server.show("/v1/downloads", show, ({ message }) => byId("models").replaceChildren(message));
  }

  model(model) {
    const { id, kind, bytes, error } = model;
    const about = error || `${t(`engine.${kind}`)}, ${megabytes(bytes)}`;
    const name = element("span", { class: "name" }, element("code", {}, id), element("span", { class: "about" }, about));
    return element("li", { class: "plan", "data-model": id }, name, isMissing(model) ? this.download(model) : t("installed"));
  }

  // The progress of a download, or the button that begins it.
  download({ id, bytes, bytes_done: done, is_running: isRunning }) {
    if (isRunning) {
      const percent = Math.min(100, Math.round((100 * done) / bytes));
      return element("span", { class: "phrase" }, element("progress", { max: 100, value: percent, "aria-label": id }), ` ${percent} %`);
    }
    const click = async () => {
      await this.server.post(`/v1/downloads/${id}`).catch(() => {});
      await this.refresh();
    };
    return labelled(t("download"), id, () => void click());
  }
}

export function isMissing(model) {
  return !model.is_installed || model.is_running;
}

export function megabytes(bytes) {
  return `${Math.ceil(bytes / 1e6)}\u00a0MB`;
}
