// A confirmation with two buttons. The first answer counts, here or on another device; none in time is a no.

import { button, element } from "./element.js";
import { language, quoted, t } from "./texts.js";

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
    this.no = button("no", choose(false), t("no"));
    this.buttons = element("div", { class: "answers", hidden: !mayAnswer }, this.no, button("main yes", choose(true), t("yes")));
    this.element = element("div", { class: "confirmation", role: "group", "aria-label": question }, this.words, this.buttons, this.hint, this.left);
    // A spoken answer is awaited for a shorter time, from the end of the question on.
    if (seconds > 0 && (!isHeard || level === "screen")) this.countDown(seconds);
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
    this.hint.textContent = answer === "unclear" ? t("unclear", { text }) : quoted(text);
  }

  decide({ granted, why }) {
    this.close();
    this.element.dataset.granted = granted;
    // The server gives its reasons in English.
    const words = t(granted ? "confirmed" : "refused");
    this.hint.textContent = language === "en" && why ? `${words}: ${why}` : words;
  }

  close() {
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
