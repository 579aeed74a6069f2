// A confirmation with two buttons. The first answer counts, here or on another device.

import { element } from "./element.js";

export class Confirmation {
  // `answer(granted)` sends the answer.
  constructor({ question, level, may_answer: mayAnswer }, answer) {
    this.answer = answer;
    this.words = element("p", { class: "question" }, question);
    this.hint = element("p", { class: "hint" }, hint(level, mayAnswer));
    this.buttons = element("div", { class: "answers", hidden: !mayAnswer }, this.button("Yes", true), this.button("No", false));
    this.element = element("div", { class: "confirmation", role: "group", "aria-label": question }, this.words, this.buttons, this.hint);
  }

  button(word, granted) {
    const click = () => {
      for (const button of this.buttons.children) button.disabled = true;
      this.answer(granted);
    };
    return element("button", { type: "button", class: granted ? "main yes" : "no", click }, word);
  }

  heard({ text, answer }) {
    this.hint.textContent = answer === "unclear" ? `“${text}” is not a clear yes or no.` : `“${text}”`;
  }

  decide({ granted, why }) {
    this.element.dataset.granted = granted;
    this.buttons.remove();
    this.hint.textContent = `${granted ? "Confirmed" : "Refused"}: ${why}`;
  }
}

function hint(level, mayAnswer) {
  if (!mayAnswer) return "A user with permission to confirm must answer.";
  return level === "screen" ? "A spoken yes is not enough for this." : "You can also say yes or no.";
}
