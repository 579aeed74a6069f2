// One entity of the home: its state, a tap, and a slider or a colour where it has one.

import { colourOf, levelOf, playOf, tapOf } from "./controls.js";
import { button, element, field } from "./element.js";
import { iconOf } from "./icons.js";
import { clock, number, t } from "./texts.js";

const NEWS_MS = 2_500; // as long as its animation
const SETTLE_MS = 250; // a slider that moves sends its last value only
const AT_REST = new Set(["off", "closed", "locked", "idle", "docked", "disarmed", "standby", "unavailable", "unknown", "never"]);
const WITHOUT_REST = new Set(["sensor", "weather", "scene", "todo", "button", "event"]);

export class Thing {
  /** `label` is its name, told apart from others; `act(tool, values)` makes a call for it, `changes()` reads its states of today. */
  constructor(thing, label, act, changes) {
    this.label = label;
    this.act = act;
    this.changes = changes;
    this.words = null;
    this.phrase = element("span", { class: "phrase" });
    this.icon = element("span", { class: "icon-place" });
    this.verb = element("span", { class: "unseen" });
    const parts = [this.icon, element("span", { class: "name" }, label), this.phrase, this.verb];
    this.tap = tapOf(thing) ? button("tap", () => this.tapped(), ...parts) : element("div", { class: "tap" }, ...parts);
    this.extras = element("div", { class: "extras" });
    this.more = button("quiet more", () => void this.toggleDay(), "⋯");
    this.more.setAttribute("aria-label", t("todayOf", { name: label }));
    this.element = element("li", { "data-thing": thing.id }, this.tap, this.more, this.extras);
  }

  /** What the search looks through. */
  get searched() {
    return `${this.label} ${this.thing.domain} ${this.words}`.toLowerCase();
  }

  update(thing) {
    this.thing = thing;
    const words = inWords(thing);
    const isNews = this.words !== null && this.words !== words;
    this.words = words;
    this.element.className = isActive(thing) ? "thing active" : "thing";
    this.element.dataset.state = thing.state;
    this.icon.replaceChildren(iconOf(thing));
    this.phrase.textContent = words;
    this.updateTap(tapOf(thing));
    this.updateLevel(levelOf(thing));
    this.updateColour(colourOf(thing));
    this.updatePlay(playOf(thing));
    if (!isNews) return;
    this.element.classList.add("changed");
    setTimeout(() => this.element.classList.remove("changed"), NEWS_MS);
  }

  updateTap(act) {
    if (act === null) return;
    this.verb.textContent = act.isPressed === undefined ? ` · ${t(act.word)}` : "";
    this.tap.title = t(act.word);
    this.tap.disabled = this.thing.state === "unavailable";
    if (act.isPressed !== undefined) this.tap.setAttribute("aria-pressed", `${act.isPressed}`);
  }

  tapped() {
    const { tool, values = {} } = tapOf(this.thing);
    if (this.thing.attributes.code_format) this.askForCode(tool, values);
    else this.act(tool, values);
  }

  // The code of a lock or an alarm panel is typed: nobody hears it.
  askForCode(tool, values) {
    this.code?.remove();
    const isNumber = /number|\\d/.test(this.thing.attributes.code_format);
    const code = field(t("codeOf", { name: this.label }), { type: "password", inputmode: isNumber ? "numeric" : "text", autocomplete: "off" });
    const submit = (event) => {
      event.preventDefault();
      this.code.remove();
      this.act(tool, code.value ? { ...values, code: code.value } : values);
    };
    this.code = element("form", { class: "extras", submit }, code, element("button", { type: "submit", class: "main" }, this.tap.title));
    this.element.append(this.code);
    code.focus();
  }

  // Its states of today, with their times.
  async toggleDay() {
    const isShown = this.day !== undefined;
    this.more.setAttribute("aria-expanded", `${!isShown}`);
    this.day?.remove();
    this.day = undefined;
    if (isShown) return;
    this.day = element("ol", { class: "states" });
    this.element.append(this.day);
    const { data } = await this.changes().catch(() => ({ data: [] }));
    const items = data.map(({ at, phrase }) => element("li", {}, element("time", { datetime: at }, clock(at)), ` ${phrase}`));
    this.day?.replaceChildren(...(items.length > 0 ? items : [element("li", {}, t("noChanges"))]));
  }

  updateLevel(level) {
    if (level === null) {
      this.range?.remove();
      this.range = undefined;
      return;
    }
    if (this.range === undefined) {
      this.range = element("input", { type: "range", "aria-label": t(`level.${level.slot}`, { name: this.label }), input: () => this.moved(), change: () => this.settled() });
      this.extras.prepend(this.range);
    }
    const { min, max, step, value, unit } = level;
    Object.assign(this.range, { min, max, step });
    if (!this.isMoving) this.range.value = value;
    this.range.setAttribute("aria-valuetext", `${number(Number(this.range.value))}${unit}`);
  }

  moved() {
    this.isMoving = true;
    const { unit } = levelOf(this.thing);
    this.phrase.textContent = `${number(Number(this.range.value))}${unit}`;
  }

  settled() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.isMoving = false;
      const level = levelOf(this.thing);
      if (level) this.act(level.tool, { [level.slot]: Number(this.range.value) });
    }, SETTLE_MS);
  }

  updateColour(colour) {
    if (colour === null) {
      this.colour?.remove();
      this.colour = undefined;
      return;
    }
    if (this.colour === undefined) {
      this.colour = element("input", { type: "color", "aria-label": t("level.color", { name: this.label }) });
      this.colour.addEventListener("change", () => this.act("light_set", { color: this.colour.value }));
      this.extras.append(this.colour);
    }
    if (document.activeElement !== this.colour) this.colour.value = colour;
  }

  updatePlay(act) {
    if (act?.word === this.play?.dataset.word) return; // it may have the focus
    this.play?.remove();
    this.play = act === null ? undefined : button("quiet", () => this.act(act.tool, {}), t(act.word));
    if (this.play === undefined) return;
    this.play.dataset.word = act.word;
    this.extras.append(this.play);
  }
}

function isActive(thing) {
  return !AT_REST.has(thing.state) && !WITHOUT_REST.has(thing.domain);
}

// The state as text, with its most important figure.
function inWords({ domain, state, phrase, attributes }) {
  const figure = { light: percent(attributes.brightness), fan: percent(attributes.percentage), climate: degrees(attributes) }[domain];
  if (figure && state !== "off") return `${phrase} · ${figure}`;
  if (domain === "cover" && attributes.position > 0 && attributes.position < 100) return t("percentOpen", { percent: attributes.position });
  if (domain === "weather" && degrees(attributes)) return `${phrase} · ${degrees(attributes)}`;
  if (domain === "todo") return state === "1" ? t("oneItem") : t("itemCount", { count: state });
  return domain === "scene" ? "" : phrase;
}

function percent(value) {
  return value > 0 && value < 100 ? `${value} %` : "";
}

function degrees({ temperature, unit }) {
  return typeof temperature === "number" ? `${number(temperature)} ${unit ?? "°"}` : "";
}
