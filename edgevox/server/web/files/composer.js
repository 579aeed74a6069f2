// The text field: sends what is typed, and recalls earlier texts with the arrow keys.

import { byId } from "./element.js";

const MOST_RECALLED = 100;

export class Composer {
  /** `send(text)` sends a text. */
  constructor(send) {
    this.field = byId("words");
    this.said = [];
    this.place = 0;
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.field.value.trim();
      if (text === "") return;
      this.field.value = "";
      this.remember([...this.said, text]);
      send(text);
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      this.recall(event.key === "ArrowUp" ? -1 : 1);
    });
  }

  get isEmpty() {
    return this.field.value === "";
  }

  // Texts of earlier days go before those that are known.
  addEarlier(texts) {
    this.remember([...texts, ...this.said]);
  }

  // A text that was not taken can be sent again.
  giveBack(text) {
    if (this.isEmpty) this.field.value = text;
  }

  remember(texts) {
    this.said = texts.filter((text, at) => text !== "" && text !== texts[at + 1]).slice(-MOST_RECALLED);
    this.place = this.said.length;
  }

  recall(step) {
    this.place = Math.min(this.said.length, Math.max(0, this.place + step));
    this.field.value = this.said[this.place] ?? "";
  }
}
