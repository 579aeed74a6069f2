// The models: which are installed, and downloads with their progress.

import { button, byId, element } from "./element.js";
import { Refused } from "./server.js";
import { t } from "./texts.js";

const LOOK_EVERY_MS = 500;
const KINDS = ["stt", "llm", "tts"];

export class Models {
  constructor(server) {
    this.server = server;
    this.place = byId("models");
  }

  async refresh() {
    clearTimeout(this.timer);
    try {
      const { data } = await this.server.get("/v1/downloads");
      const shown = KINDS.flatMap((kind) => data.filter((model) => model.kind === kind));
      this.place.replaceChildren(...shown.map((model) => this.model(model)));
      if (data.some((model) => model.is_running)) this.timer = setTimeout(() => void this.refresh(), LOOK_EVERY_MS);
    } catch (error) {
      if (error instanceof Refused) this.place.textContent = error.message;
    }
  }

  model({ id, kind, bytes, bytes_done: done, is_installed: isInstalled, is_running: isRunning, error }) {
    const about = `${t(`engine.${kind}`)}, ${Math.ceil(bytes / 1e6)} MB`;
    const name = element("span", { class: "name" }, element("code", {}, id), element("span", { class: "about" }, error || about));
    return element("li", { class: "plan", "data-model": id }, name, isRunning ? progress(id, done, bytes) : isInstalled ? t("installed") : this.download(id));
  }

  download(id) {
    const click = async () => {
      await this.server.post(`/v1/downloads/${id}`).catch(() => {});
      await this.refresh();
    };
    const made = button("quiet", () => void click(), t("download"));
    made.setAttribute("aria-label", `${t("download")}: ${id}`);
    return made;
  }
}

function progress(id, done, bytes) {
  const percent = Math.min(100, Math.round((100 * done) / bytes));
  return element("span", { class: "phrase" }, element("progress", { max: 100, value: percent, "aria-label": id }), ` ${percent} %`);
}
