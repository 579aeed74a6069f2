// A confirmation with two buttons. The first answer counts, here or on another device; none in time is a no.

import { button, element } from "./element.js";
import { fromServer, language, quoted, t } from "./texts.js";

const SPOKEN_S = 8; // as long as the assistant waits for a spoken answer, from the end of its question on

export class Confirmation {
  /** `answer(granted)` sends the answer; `isHeard` if a spoken answer can come. */
  constructor({ question, level, may_answer: mayAnswer, expires_in_s: seconds }, isHeard, answer) {
    this.words = element("p", { class: "question" }, question);
    this.hint = element("p", { class: "hint" }, hint(level, mayAnswer, isHeard));
    this.left = element("p", { class: "hint", role: "timer", hidden: true });
    const choose = (granted) => () => {
      for (const one of this.buttons.children) one.disabled = true;
      answer(granted);
    };
    this.no = button("main no", choose(false), t("no")); // the safe answer is the one that stands out
    this.buttons = element("div", { class: "answers", hidden: !mayAnswer }, this.no, button("yes", choose(true), t("yes")));
    this.element = element("div", { class: "confirmation", role: "group", "aria-label": question }, this.words, this.buttons, this.hint, this.left);
    this.isSpoken = isHeard && level !== "screen";
    if (seconds > 0 && !this.isSpoken) this.countDown(seconds);
  }

  // What the assistant does while the question is open: once it has been spoken, the time for a spoken answer runs.
  follow(state) {
    if (!this.isSpoken) return;
    clearInterval(this.counting);
    if (state === "asking") this.countDown(SPOKEN_S);
  }

  countDown(seconds) {
    const until = Date.now() + seconds * 1000;
    const tick = () => {
      this.left.textContent = t("noIn", { seconds: Math.max(0, Math.ceil((until - Date.now()) / 1000)) });
    };
    this.left.hidden = false;
    tick();
    this.counting = setInterval(tick, 1000);
  }

  heard({ text, answer }) {
    if (this.isSpoken) {
      clearInterval(this.counting); // an answer that is not clear is asked for once more
      this.left.hidden = true;
    }
    this.hint.textContent = answer === "unclear" ? t("unclear", { text }) : quoted(text);
  }

  decide({ granted, why }) {
    this.close();
    this.element.dataset.granted = granted;
    const words = t(granted ? "confirmed" : "refused");
    const reason = fromServer(`why.${why}`, language === "en" ? why : ""); // others name the person who chose
    this.hint.textContent = reason ? `${words}: ${reason}` : words;
  }

  close() {
    this.isSpoken = false;
    clearInterval(this.counting);
    this.left.remove();
    this.buttons.remove();
  }
}

function hint(level, mayAnswer, isHeard) {
  if (!mayAnswer) return t("otherMustAnswer");
  if (level === "screen") return t("notByVoice");
  return isHeard ? t("orAloud") : "";
}
