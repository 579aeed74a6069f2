// Shows the state of the engines, the assistant and this browser.

import { byId, element } from "./element.js";
import { Polling } from "./polling.js";
import { known, t } from "./texts.js";

const ORDER = ["stt", "llm", "tts"];
const LOOK_EVERY_MS = 10_000;

export class Engines {
  constructor(server) {
    this.server = server;
    this.list = byId("engines");
    this.facts = byId("facts");
    this.engines = {};
    this.status = null;
    this.browser = {};
    this.polling = new Polling(LOOK_EVERY_MS, () => this.refresh());
  }

  watch() {
    return this.polling.start();
  }

  rest() {
    this.polling.stop();
    for (const engine of Object.values(this.engines)) engine.state = t("unknownState");
    this.draw();
  }

  async refresh() {
    const show = (status) => {
      this.status = status;
      this.engines = status.engines;
      this.draw();
    };
    await this.server.show("/v1/status", show, ({ message }) => this.facts.replaceChildren(element("dt", {}, t("fact.status")), element("dd", {}, message)));
  }

  take({ engine, state, detail }) {
    this.engines[engine] = { restarts: 0, ...this.engines[engine], state, detail };
    this.draw();
  }

  // Facts about this browser: { microphone: "16 kHz", … }.
  tell(facts) {
    Object.assign(this.browser, facts);
    this.draw();
  }

  draw() {
    const engines = Object.entries(this.engines).toSorted(([one], [other]) => ORDER.indexOf(one) - ORDER.indexOf(other));
    const items = engines.map(([name, { state, detail, restarts }]) => {
      const more = [detail, restarts ? t("restarts", { count: restarts }) : ""].filter(Boolean).join(", ");
      return element(
        "li",
        { "data-engine": name, "data-state": state },
        element("span", { class: "dot" }),
        element("span", { class: "name" }, known(`engine.${name}`) ? t(`engine.${name}`) : name),
        element("span", { class: "phrase" }, [known(`is.${state}`) ? t(`is.${state}`) : state, more].filter(Boolean).join(", ")),
      );
    });
    this.list.replaceChildren(...items);
    this.facts.replaceChildren(...Object.entries(this.rows()).flatMap(([name, value]) => [element("dt", {}, t(`fact.${name}`)), element("dd", {}, value)]));
  }

  rows() {
    if (this.status === null) return this.browser;
    const { version, preset, up_s: up, voice, trouble } = this.status;
    return {
      ...(trouble ? { trouble: [trouble.message, trouble.hint].filter(Boolean).join(" → ") } : {}),
      model: preset,
      version,
      running: duration(up),
      clients: t("clientsOf", { clients: voice.clients, most: voice.max_clients }),
      ...this.browser,
    };
  }
}

function duration(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : t("days", { count: Math.round(seconds / 86_400) });
}
