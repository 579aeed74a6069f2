// Shows the state of the connection, and what to do about problems.

import { byId } from "./element.js";

const NO_TOKEN = "This page needs a token. On the machine of the assistant, edgevox open opens it with one.";

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
    this.retry = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: "Connect again" });
    this.retry.addEventListener("click", () => on.retry());
  }

  show(status) {
    clearInterval(this.counting);
    this.place.dataset.kind = status.kind;
    switch (status.kind) {
      case "connecting":
        this.say("Connecting …");
        break;
      case "open":
        this.say("Connected");
        break;
      case "waiting":
        this.countDown(status.seconds);
        break;
      case "closed":
        this.closed(status);
        break;
    }
  }

  askForToken(why = NO_TOKEN) {
    this.place.dataset.kind = "closed";
    this.say("No token");
    this.why.textContent = why;
    this.form.hidden = false;
    byId("key-field").focus();
  }

  countDown(seconds) {
    const until = Date.now() + seconds * 1000;
    const tick = () => {
      const left = Math.max(1, Math.ceil((until - Date.now()) / 1000));
      this.say(`Not connected, trying again in ${left} s`);
    };
    tick();
    this.counting = setInterval(tick, 1000);
  }

  closed({ code, reason }) {
    if (code === 4401 || code === 4403) {
      this.askForToken(`${code === 4401 ? "The token is unknown." : "The token lacks the scope voice."} edgevox open opens the page with another.`);
      return;
    }
    this.say(code === 4409 ? "Another tab or phone replaced this connection " : `Closed: ${reason || code} `);
    this.words.append(this.retry);
  }

  say(words) {
    this.words.textContent = words;
  }
}
