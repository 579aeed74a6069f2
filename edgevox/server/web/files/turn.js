// Shows one turn: transcript, tool calls, reply and latency.

import { Confirmation } from "./confirmation.js";
import { element } from "./element.js";
import { ToolCall } from "./tool-call.js";
import { firstSoundMs, milliseconds, waterfall } from "./waterfall.js";

const PADDING_PX = 16;
const ENDS = { interrupted: "interrupted", cancelled: "stopped", dropped: "nothing was said" };

export class Turn {
  // `confirm(token, granted)` answers a question; `place` is "here" or "room".
  constructor(source, place, confirm) {
    this.confirm = confirm;
    this.said = element("p", { class: "said" }, "…");
    this.work = element("div", { class: "work" });
    this.reply = element("p", { class: "reply", hidden: true });
    this.foot = element("p", { class: "foot" });
    this.element = element("li", { class: "turn", "data-source": source, "data-place": place, "aria-busy": "true" }, this.said, this.work, this.reply, this.foot);
    this.calls = new Map();
    this.questions = new Map();
  }

  transcript({ text, dropped }) {
    this.heard = text;
    this.said.textContent = text || `(nothing was understood${dropped ? `: ${dropped}` : ""})`;
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

  question(frame) {
    const question = new Confirmation(frame, (granted) => this.confirm(frame.token, granted));
    this.questions.set(frame.token, question);
    this.work.append(question.element);
    return question;
  }

  answer(frame) {
    this.questions.get(frame.token)?.heard(frame);
  }

  decided(frame) {
    this.questions.get(frame.token)?.decide(frame);
  }

  instant({ word }) {
    this.work.append(element("p", { class: "instant" }, `“${word}” acts at once`));
  }

  done(frame) {
    this.element.removeAttribute("aria-busy");
    this.element.dataset.outcome = frame.outcome;
    for (const call of this.calls.values()) if (call.element.dataset.state === "written") call.element.remove();
    this.reply.textContent = frame.reply || this.reply.textContent;
    this.reply.hidden = this.reply.textContent === "";
    if (frame.error) this.work.append(element("p", { class: "failure" }, [frame.error, frame.hint].filter(Boolean).join(" → ")));
    this.foot.replaceChildren(...this.footnotes(frame));
  }

  footnotes({ outcome, waterfall: record }) {
    const notes = [];
    if (ENDS[outcome]) notes.push(element("span", {}, ENDS[outcome]));
    if (record) {
      const sound = firstSoundMs(record);
      const words = sound === null ? milliseconds(record.total_ms) : `${milliseconds(sound)} to the first sound`;
      const click = ({ currentTarget: button }) => this.toggleTiming(record, button);
      notes.push(element("button", { type: "button", class: "link", "aria-expanded": "false", click }, words));
    }
    return notes;
  }

  // Toggles the latency chart below the answer.
  toggleTiming(record, button) {
    const isShown = this.timing !== undefined;
    button.setAttribute("aria-expanded", `${!isShown}`);
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
    this.foot.textContent = "the connection was lost";
    for (const question of this.questions.values()) question.buttons.remove();
  }
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
