// Shows the state of the connection, and what to do about problems.

import { button, byId } from "./element.js";
import { markdown } from "./markdown.js";
import { t } from "./texts.js";

export class Connection {
  // `on` has retry() and token(text).
  constructor(on) {
    this.place = byId("connection");
    this.words = byId("connection-words");
    this.form = byId("key");
    this.why = byId("key-why");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.form.hidden = true;
      on.token(byId("key-field").value.trim());
    });
    this.retry = button("link", () => on.retry(), t("connectAgain"));
  }

  show(status) {
    clearInterval(this.counting);
    this.place.dataset.kind = status.kind;
    switch (status.kind) {
      case "connecting":
        this.say(t("connecting"));
        break;
      case "open":
        this.say(t("connected"));
        this.form.hidden = true; // the token may have come in the address
        break;
      case "waiting":
        this.countDown(status.seconds);
        break;
      case "closed":
        this.closed(status);
        break;
    }
  }

  askForToken(why = t("needToken")) {
    this.place.dataset.kind = "closed";
    this.say(t("noToken"));
    this.why.replaceChildren(...markdown(why));
    this.form.hidden = false;
    byId("key-field").focus();
  }

  countDown(seconds) {
    const until = Date.now() + seconds * 1000;
    const tick = () => {
      const left = Math.max(1, Math.ceil((until - Date.now()) / 1000));
      this.say(t("waiting", { seconds: left }));
    };
    tick();
    this.counting = setInterval(tick, 1000);
  }

  closed({ code, reason }) {
    if (code === 4401 || code === 4403) {
      this.askForToken(t(code === 4401 ? "unknownToken" : "lacksVoice"));
      return;
    }
    this.say(code === 4409 ? t("replaced") : t("closed", { reason: reason || code }));
    this.words.append(" ", this.retry);
  }

  say(words) {
    this.words.textContent = words;
  }
}
