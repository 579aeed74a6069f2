// Shows one turn: transcript, tool calls, reply and latency.

import { Confirmation } from "./confirmation.js";
import { button, element } from "./element.js";
import { markdown } from "./markdown.js";
import { clock, dayName, fromServer, t } from "./texts.js";
import { ToolCall } from "./tool-call.js";
import { firstSoundMs, milliseconds, tookMs, waterfall } from "./waterfall.js";

const PADDING_PX = 16;
const CUT = new Set(["interrupted", "cancelled", "dropped"]);

export class Turn {
  /** `place` is "here", "room" or "past". `on` has confirm(token, granted), which answers a question, and repeat(text). */
  constructor(source, place, on) {
    this.on = on;
    this.heard = "";
    this.said = element("p", { class: "said" }, "…");
    this.work = element("div", { class: "work" });
    this.reply = element("div", { class: "reply", hidden: true });
    this.foot = element("p", { class: "foot" });
    this.from = element("p", { class: "from" });
    this.element = element("li", { class: "turn", "data-source": source, "data-place": place, "aria-busy": "true" }, this.from, this.said, this.work, this.reply, this.foot);
    this.calls = new Map();
    this.questions = new Map();
    this.isRefused = false;
  }

  // Where it was said, and by whom.
  tellFrom(...words) {
    this.from.textContent = words.filter(Boolean).join(" · ");
  }

  transcript({ text, dropped }) {
    this.heard = text;
    this.said.textContent = text || (dropped ? t("nothingUnderstoodWhy", { why: dropped }) : t("nothingUnderstood"));
    this.said.classList.toggle("nothing", text === "");
  }

  token({ text }) {
    this.reply.hidden = false;
    this.reply.append(text);
  }

  callDelta({ call_id: id, name, arguments_delta: delta }) {
    this.call(id, name).write(delta);
  }

  toolCall(frame) {
    this.call(frame.call_id, frame.name).make(frame);
  }

  toolResult(frame) {
    this.call(frame.call_id, frame.name).finish(frame);
  }

  call(id, name) {
    if (!this.calls.has(id)) {
      const call = new ToolCall(name);
      this.calls.set(id, call);
      this.work.append(call.element);
    }
    return this.calls.get(id);
  }

  question(frame, isHeard) {
    const question = new Confirmation(frame, isHeard, (granted) => this.on.confirm(frame.token, granted));
    this.questions.set(frame.token, question);
    this.work.append(question.element);
    return question;
  }

  answer(frame) {
    this.questions.get(frame.token)?.heard(frame);
  }

  decided(frame) {
    const question = this.questions.get(frame.token);
    if (question === undefined) return;
    this.isRefused = !frame.granted;
    this.work.append(question.element); // it may have been shown elsewhere
    question.decide(frame);
  }

  instant({ word }) {
    this.work.append(element("p", { class: "instant" }, t("actsAtOnce", { word })));
  }

  done(frame) {
    this.element.removeAttribute("aria-busy");
    this.element.dataset.outcome = frame.outcome;
    for (const call of this.calls.values()) if (call.element.dataset.state === "written") call.element.remove();
    this.reply.replaceChildren(...markdown(frame.reply || this.reply.textContent));
    this.reply.hidden = this.reply.textContent === "";
    if (frame.error) {
      const english = [frame.error, frame.hint].filter(Boolean).join(" → ");
      this.work.append(element("p", { class: "failure" }, fromServer(`error.${frame.error_code}`, english)));
    }
    this.foot.replaceChildren(...this.footnotes(frame));
  }

  // A turn of the past, from its record; `isDated` if it stands below no day.
  recall(record, isDated) {
    this.tellFrom(isDated ? dayName(record.at.slice(0, 10)) : "", speakerName(record.speaker), record.room);
    this.transcript({ text: record.heard });
    this.said.hidden = record.heard === "";
    this.work.append(...record.calls.map((summary) => element("p", { class: "call summary", "data-state": "done" }, summary)));
    this.done({ ...record, waterfall: record });
    this.foot.prepend(element("time", { datetime: record.at }, clock(record.at)));
  }

  footnotes({ outcome, waterfall: record }) {
    const notes = [];
    if (CUT.has(outcome)) notes.push(element("span", {}, t(outcome)));
    if (record) {
      const sound = firstSoundMs(record);
      const words = sound === null ? milliseconds(tookMs(record)) : t("firstSound", { time: milliseconds(sound) });
      const timing = button("link", () => this.toggleTiming(record, timing), words);
      timing.setAttribute("aria-expanded", "false");
      notes.push(timing);
    }
    if (navigator.clipboard && this.reply.textContent) notes.push(this.copyButton());
    const isTyped = ["text", "voice"].includes(this.element.dataset.source) && this.heard !== "";
    if (isTyped && (this.isRefused || outcome === "failed")) notes.push(button("link", () => this.on.repeat(this.heard), t("repeat")));
    return notes;
  }

  copyButton() {
    const copy = button(
      "link",
      async () => {
        await navigator.clipboard.writeText([this.heard, this.reply.textContent].filter(Boolean).join("\n"));
        copy.textContent = t("copied");
      },
      t("copy"),
    );
    return copy;
  }

  // Toggles the latency chart below the answer.
  toggleTiming(record, toggle) {
    const isShown = this.timing !== undefined;
    toggle.setAttribute("aria-expanded", `${!isShown}`);
    if (isShown) this.timing.remove();
    this.timing = isShown ? undefined : element("div", { class: "card" });
    if (isShown) return;
    this.element.append(this.timing);
    drawWithin(this.timing, record);
    this.timing.scrollIntoView({ block: "nearest" });
  }

  // The connection was lost during the turn.
  abandon() {
    if (!this.element.hasAttribute("aria-busy")) return;
    this.element.removeAttribute("aria-busy");
    for (const question of this.questions.values()) {
      question.close();
      this.work.append(question.element);
    }
    this.foot.replaceChildren(element("span", {}, t("lost")));
    if (this.heard) this.foot.append(button("link", () => this.on.repeat(this.heard), t("repeat")));
  }
}

// A voice that the assistant does not know is that of a guest.
export function speakerName(name) {
  return name === "guest" ? t("guest") : name;
}

// Follows the width of its container.
function drawWithin(place, record) {
  let width = 0;
  const draw = () => {
    if (place.clientWidth === 0 || place.clientWidth === width) return;
    width = place.clientWidth;
    place.replaceChildren(waterfall(record, width - 2 * PADDING_PX));
  };
  draw();
  new ResizeObserver(draw).observe(place);
}
