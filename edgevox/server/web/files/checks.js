// The test buttons of the settings: each tries one part of the assistant, and says what came of it.

import { element } from "./element.js";
import { Microphone } from "./microphone.js";
import { spoken, t } from "./texts.js";

const METER_MS = 8_000;
const WAKE_MS = 15_000;
const QUIET = 0.01;

export class Checks {
  /** `on` has act(tool, arguments), which makes a call, and ask(text), which asks in the conversation. */
  constructor(server, loudspeaker, on) {
    this.server = server;
    this.loudspeaker = loudspeaker;
    this.on = on;
    this.heard = () => {};
  }

  // Each returns a sentence and can throw an Error with one. `place` is where it stands; `value(name)` is a field, saved or not.

  async voice(_place, value) {
    const wanted = { model: "default", input: spoken("check.sample"), response_format: "wav", speed: Number(value("tts.speed")) };
    const seconds = await this.loudspeaker.playFile(await this.server.sound("/v1/audio/speech", wanted));
    return t("check.spoke", { seconds });
  }

  async microphone(place) {
    const trouble = Microphone.trouble();
    if (trouble) throw new Error(trouble);
    const meter = element("meter", { max: 1, "aria-label": t("check.level") });
    let loudest = 0;
    const level = (now) => {
      loudest = Math.max(loudest, now);
      meter.value = Math.min(1, now * 6);
    };
    const microphone = new Microphone({ level, frame: () => {}, gone: () => {} });
    await this.loudspeaker.wake();
    await microphone.start(this.loudspeaker.context);
    place.replaceChildren(t("check.speak"), " ", meter);
    await after(METER_MS);
    microphone.stop();
    return t(loudest > QUIET ? "check.loud" : "check.quiet");
  }

  // In the room of the assistant, by its own microphone.
  async wake(place) {
    place.textContent = t("check.wakeWord");
    const isHeard = new Promise((done) => {
      this.heard = () => done(true);
    });
    return t((await Promise.race([isHeard, after(WAKE_MS)])) ? "check.awake" : "check.asleep");
  }

  async tones() {
    this.on.act("start_timer", { seconds: 1, name: t("check.timer") });
    return t("check.rings");
  }

  async privacy() {
    const { data } = await this.server.get("/v1/turns");
    return t("check.kept", { count: data.filter(({ heard }) => heard !== "").length });
  }

  async answers() {
    this.on.ask(spoken("example2"));
    return t("check.asked");
  }
}

function after(ms) {
  return new Promise((done) => setTimeout(done, ms, false));
}
