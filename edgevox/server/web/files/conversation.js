// Shows the conversation: turns, provisional transcripts, and typed text that waits to be sent.

import { byId, element } from "./element.js";
import { fromServer, t } from "./texts.js";
import { speakerName, Turn } from "./turn.js";

const MOST_TURNS = 100;
const NEAR_END_PX = 120;
// The frames that only concern a turn, and what it does with them.
const OF_TURN = {
  token: "token",
  tool_call_delta: "callDelta",
  tool_call: "toolCall",
  tool_result: "toolResult",
  answer_heard: "answer",
  confirmation_decided: "decided",
  instant_word: "instant",
};

export class Conversation {
  /**
   * `on.confirm` has here(token, granted) and room(token, granted), which answer a question; `on.isHeard()` says whether a
   * spoken answer can come, `on.asked(card)` gets the card of a question, and `on.repeat(text)` asks once more.
   */
  constructor(on) {
    this.on = on;
    this.scroller = byId("turns");
    this.list = byId("turn-list");
    this.partial = byId("partial");
    this.queued = byId("queued");
    this.announcer = byId("announcer");
    this.turns = new Map();
  }

  // Typed text: shown below the turns until its turn starts.
  queue(text) {
    byId("welcome").hidden = true;
    this.queued.append(element("li", { class: "said partial" }, text));
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  // The last typed text was not taken; returns it.
  unqueue() {
    const last = this.queued.lastElementChild;
    last?.remove();
    return last?.textContent ?? "";
  }

  // `place` is "here" for turns of this page, "room" for those at the assistant's own microphone.
  take(frame, place = "here") {
    const isAtEnd = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < NEAR_END_PX;
    this.show(frame, place);
    if (isAtEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  show(frame, place) {
    const turn = this.turns.get(frame.turn_id);
    switch (frame.type) {
      case "turn_begin":
        this.begin(frame, place);
        break;
      case "transcript":
        if (frame.final) this.final(turn, frame);
        else if (place === "here") this.guess(frame.text);
        break;
      case "confirmation_required":
        if (turn) this.ask(turn.question(frame, place === "room" ? turn.element.dataset.source === "voice" : this.on.isHeard()), place);
        this.announce(t("yesOrNo", { question: frame.question }));
        break;
      case "state":
        if (this.open?.place === place) this.open.card.follow(frame.state);
        break;
      case "done":
        turn?.done(frame);
        turn?.tellFrom(speakerName(frame.speaker), turn.where);
        this.announce([frame.reply, fromServer(`error.${frame.error_code}`, frame.error)].filter(Boolean).join(" "));
        break;
      default:
        turn?.[OF_TURN[frame.type]]?.(frame);
    }
  }

  begin({ turn_id: id, source, room }, place) {
    byId("welcome").hidden = true;
    const turn = new Turn(source, place, { confirm: this.on.confirm[place], repeat: this.on.repeat });
    turn.where = place === "room" ? room || t("inRoom") : "";
    turn.tellFrom(turn.where);
    if (source === "text" && place === "here") this.queued.firstElementChild?.remove();
    this.turns.set(id, turn);
    this.list.append(turn.element);
    if (this.turns.size > MOST_TURNS) {
      const [oldest, first] = this.turns.entries().next().value;
      first.element.remove();
      this.turns.delete(oldest);
    }
  }

  ask(card, place) {
    this.open = { card, place };
    this.on.asked(card);
  }

  guess(text) {
    if (text) byId("welcome").hidden = true;
    this.partial.textContent = text;
    this.partial.hidden = text === "";
  }

  final(turn, frame) {
    this.guess("");
    turn?.transcript(frame);
    if (turn?.element.dataset.source === "voice") this.announce(t("youSaid", { text: frame.text }));
  }

  // Whole sentences for screen readers: single words would be read one by one.
  announce(words) {
    if (words) this.announcer.textContent = words;
  }

  abandon() {
    this.guess("");
    this.queued.replaceChildren();
    for (const turn of this.turns.values()) turn.abandon();
  }
}
