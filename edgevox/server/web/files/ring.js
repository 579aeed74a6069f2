// A timer, an alarm or a reminder that rings: a tone, its text, and two buttons.

import { button, byId, element } from "./element.js";
import { t } from "./texts.js";

const ROUND_MS = 2_000;
const BEEPS_S = [0, 0.25, 0.5];
const BEEP_S = 0.15;
const PITCH_HZ = 880;
const LOUDNESS = 0.3;

export class Ring {
  /** `on` has stop() and snooze(). The tone follows the volume of the loudspeaker. */
  constructor(loudspeaker, on) {
    this.loudspeaker = loudspeaker;
    this.place = byId("ring");
    this.words = element("p", { class: "question" });
    this.hint = element("p", { class: "hint", hidden: true }, t("tapToHear"));
    this.snooze = button("main", () => on.snooze(), t("snooze"));
    this.place.append(this.words, this.hint, element("div", { class: "answers" }, this.snooze, button("stop", () => on.stop(), t("stop"))));
    this.rings = new Map();
    document.addEventListener("pointerdown", () => {
      if (this.rings.size > 0) void this.sound();
    });
  }

  take({ ring_id: id, is_ringing: isRinging, text }) {
    const wasSilent = this.rings.size === 0;
    if (isRinging) this.rings.set(id, text);
    else this.rings.delete(id);
    this.words.textContent = [...this.rings.values()].join(" ");
    this.place.hidden = this.rings.size === 0;
    if (this.rings.size === 0) this.rest();
    else if (wasSilent) this.start();
  }

  rest() {
    clearInterval(this.timer);
    this.rings.clear();
    this.place.hidden = true;
    delete this.place.dataset.sounded;
  }

  start() {
    this.snooze.focus();
    this.timer = setInterval(() => void this.sound(), ROUND_MS);
    void this.sound();
  }

  // One round. Browsers allow no sound before the first click or key.
  async sound() {
    const isAwake = await this.loudspeaker.wake();
    this.hint.hidden = isAwake;
    if (!isAwake || this.rings.size === 0) return;
    this.place.dataset.sounded = "true";
    const { context, volume } = this.loudspeaker;
    for (const start of BEEPS_S) beep(context, context.currentTime + start, LOUDNESS * volume);
  }
}

function beep(context, start, loudness) {
  const tone = new OscillatorNode(context, { frequency: PITCH_HZ });
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setTargetAtTime(loudness, start, 0.01);
  gain.gain.setTargetAtTime(0, start + BEEP_S, 0.02);
  tone.connect(gain).connect(context.destination);
  tone.start(start);
  tone.stop(start + BEEP_S + 0.2);
}
