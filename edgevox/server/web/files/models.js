// Models and voices: which are installed, and downloads with their progress.

import { byId, element, labelled } from "./element.js";
import { KeyedList } from "./list.js";
import { t } from "./texts.js";

const LOOK_EVERY_MS = 500;
const KINDS = ["stt", "llm"]; // the voices have a list of their own

export class Models {
  /** `voices` shows the voices, with their downloads. */
  constructor(server, voices) {
    this.server = server;
    this.voices = voices;
    this.list = new KeyedList(byId("models"), (model) => this.model(model));
    voices.download = (model) => this.download(model);
  }

  async refresh() {
    clearTimeout(this.timer);
    const show = ({ data }) => {
      this.list.show(KINDS.flatMap((kind) => data.filter((model) => model.kind === kind)));
      void this.voices.show(data.filter((model) => model.kind === "tts"));
      if (data.some((model) => model.is_running)) this.timer = setTimeout(() => void this.refresh(), LOOK_EVERY_MS);
    };
    await this.server.show("/v1/downloads", show, ({ message }) => byId("models").replaceChildren(message));
  }

  model(model) {
    const { id, kind, bytes, error } = model;
    const about = error || `${t(`engine.${kind}`)}, ${megabytes(bytes)}`;
    const name = element("span", { class: "name" }, element("code", {}, id), element("span", { class: "about" }, about));
    return element("li", { class: "plan", "data-model": id }, name, model.is_installed && !model.is_running ? t("installed") : this.download(model));
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

export function megabytes(bytes) {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
