// Timers, alarms, reminders, scheduled commands and lists: shown, changed and added.

import { button, byId, element, field, labelled } from "./element.js";
import { KeyedList } from "./list.js";
import { showNote } from "./markdown.js";
import { Polling } from "./polling.js";
import { clock, language, locale, nearDay, t } from "./texts.js";

const LOOK_EVERY_MS = 2_000;
const LISTS_EVERY_MS = 15_000; // a home may have to ask a server for each list
const KINDS = ["timer", "alarm", "reminder"];
const WEEK = [1, 2, 3, 4, 5, 6, 7].map((day) => new Date(2024, 0, day).toLocaleDateString(locale, { weekday: "short" })); // 2024 began on a Monday

export class Plans {
  /** `act(tool, arguments)` makes a tool call. */
  constructor(server, act) {
    this.server = server;
    this.act = act;
    this.place = byId("plans");
    this.schedule = new KeyedList(byId("schedule-list"), (entry) => this.entry(entry));
    this.lists = new KeyedList(byId("lists"), (list) => this.list(list));
    this.aheadMs = 0; // of this browser's clock
    this.polling = [
      new Polling(LOOK_EVERY_MS, () => this.refreshSchedule(), this.place),
      new Polling(LISTS_EVERY_MS, () => this.refreshLists(), this.place),
      new Polling(1_000, () => this.count(), this.place),
    ];
    byId("plan-form").append(...this.form());
    byId("plan-form").addEventListener("submit", (event) => this.submitted(event));
  }

  watch() {
    return Promise.all(this.polling.map((one) => one.start()));
  }

  rest() {
    for (const one of this.polling) one.stop();
  }

  refresh() {
    return Promise.all([this.refreshSchedule(), this.refreshLists()]);
  }

  async refreshSchedule() {
    await this.read("/v1/schedule", ({ data, now_s: now }) => {
      this.aheadMs = Date.now() - now * 1000;
      this.schedule.show(data);
      showNote(byId("schedule-note"), data.length === 0 ? t("nothingSet") : "");
      this.count();
    });
  }

  async refreshLists() {
    await this.read("/v1/lists", ({ data }) => this.lists.show(data));
  }

  async read(path, show) {
    await this.server.show(path, show, ({ status, message }) => {
      if (status !== 404) showNote(byId("schedule-note"), message);
    });
  }

  // --- what is set

  entry(entry) {
    const { id, kind, due_s: due, text, when } = entry;
    const name = kind === "watch" ? when : kind === "timer" ? timerName(entry) : text || t(kind);
    const time = element("span", { class: "phrase", "data-due": kind === "timer" ? due : null }, kind === "timer" ? when : whenText(entry));
    const act = (word, tool, more = {}) => labelled(t(word), name, () => this.act(tool, { id, ...more }));
    const pause = due === null ? act("resume", "unpause_timer") : act("pause", "pause_timer");
    const acts = kind === "timer" ? [pause, act("moreTime", "increase_timer", { minutes: 1 }), act("cancel", "cancel_timer")] : [act("remove", "cancel_alarm")];
    const row = element("div", { class: "row" }, ...acts);
    const item = element("li", { class: "plan", "data-scheduled": id, "data-kind": kind }, ...(kind === "timer" ? [element("span", { class: "name" }, name), time] : [element("span", { class: "name" }, name, time)]), row);
    if (kind !== "timer" && kind !== "watch") row.prepend(...this.changes(item, entry, name));
    return item;
  }

  // A switch, and a form for other words, another time and other days; what follows the sun has no time to change.
  changes(item, entry, name) {
    const { id, time, is_on: isOn } = entry;
    const change = () => this.act("set_alarm", { id, time: "", is_on: !isOn });
    const onOff = element("input", { type: "checkbox", role: "switch", checked: isOn, change, "aria-label": `${t("isOn")}: ${name}` });
    item.classList.toggle("off", !isOn);
    const edit = labelled(t("change"), name, () => this.edit(item, entry));
    return [element("label", { class: "switch" }, onOff, t("isOn")), ...(time ? [edit] : [])];
  }

  // A scheduled command keeps its words: whether it may run was decided for them.
  edit(item, { id, kind, text, time, days }) {
    item.querySelector("form")?.remove();
    const words = kind === "schedule" ? null : field(t("nameOrTask"), { type: "text", maxlength: 100, value: text, required: kind === "reminder" });
    const at = field(t("time"), { type: "time", required: true, value: time });
    const boxes = WEEK.map((_, day) => element("input", { type: "checkbox", checked: days.includes(day) }));
    const submit = (event) => {
      event.preventDefault();
      form.remove();
      const named = words === null ? {} : { name: words.value.trim() };
      this.act("set_alarm", { id, time: at.value, ...named, days: boxes.flatMap((box, day) => (box.checked ? [day] : [])) });
    };
    const week = boxes.map((box, day) => element("label", {}, box, WEEK[day]));
    const done = element("div", { class: "row" }, element("button", { type: "submit", class: "main" }, t("save")), button("", () => form.remove(), t("cancel")));
    const form = element("form", { class: "edit", submit }, words, at, element("fieldset", {}, element("legend", {}, t("repeat.days")), ...week), done);
    item.append(form);
    (words ?? at).focus();
  }

  // Shows the rest of running timers, by the clock of the server.
  count() {
    for (const time of this.place.querySelectorAll("[data-due]")) {
      const left = Math.max(0, Math.round(time.dataset.due - (Date.now() - this.aheadMs) / 1000));
      const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60].map((part) => `${part}`.padStart(2, "0"));
      time.textContent = hours === "00" ? `${minutes}:${seconds}` : `${hours}:${minutes}:${seconds}`;
    }
  }

  // --- a new one

  form() {
    const options = KINDS.map((kind) => element("option", { value: kind }, t(kind)));
    this.kind = element("select", { "aria-label": t("kind"), change: () => this.chosen() }, ...options);
    this.minutes = field(t("minutes"), { type: "number", min: 1, max: 1440, required: true });
    this.time = element("input", { type: "time", "aria-label": t("time"), required: true });
    this.text = field(t("nameOrTask"), { type: "text", maxlength: 100 });
    this.chosen();
    return [this.kind, this.minutes, this.time, this.text, element("button", { type: "submit" }, t("add"))];
  }

  chosen() {
    const isTimer = this.kind.value === "timer";
    for (const [input, isShown] of [[this.minutes, isTimer], [this.time, !isTimer]]) {
      input.hidden = input.disabled = !isShown;
    }
    this.text.required = this.kind.value === "reminder";
  }

  submitted(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    const name = text ? { name: text } : {};
    const [tool, given] = {
      timer: ["start_timer", { minutes: Number(this.minutes.value), ...name }],
      alarm: ["set_alarm", { time: this.time.value, ...name }],
      reminder: ["set_reminder", { task: text, time: this.time.value }],
    }[this.kind.value];
    this.act(tool, given);
    this.text.value = this.minutes.value = this.time.value = "";
  }

  // --- lists

  list({ id, name, items }) {
    const act = (tool, item, more = {}) => this.act(tool, { item, name, entity_ids: [id], ...more });
    const added = field(t("newItemFor", { list: name }), { placeholder: t("newItem"), type: "text", maxlength: 100, required: true });
    const submit = (event) => {
      event.preventDefault();
      act("list_add_item", added.value.trim());
      added.value = "";
    };
    return element(
      "section",
      { class: "room card", "data-list": id },
      element("h3", {}, name),
      element("ul", {}, ...items.map((item) => listItem(item, act))),
      element("form", { class: "row", submit }, added, element("button", { type: "submit" }, t("add"))),
    );
  }
}

// The server calls a timer without a name by its length, in English.
function timerName({ text, name }) {
  if (name) return t("timerOf", { name });
  return language === "en" || !text.endsWith(" timer") ? text : t("timer");
}

// The time of an alarm, a reminder or a scheduled command; the server has the words for what follows the sun.
function whenText({ kind, due_s: due, when, time, days }) {
  if (kind === "watch") return "";
  if (time === "") return when;
  const at = clock(`2024-01-01T${time}`);
  if (days.length > 0) return t("everyDay", { days: days.length === WEEK.length ? t("allDays") : days.map((day) => WEEK[day]).join(", "), time: at });
  return due === null ? at : `${nearDay(due * 1000)}, ${at}`;
}

function listItem({ text, is_done: isDone }, act) {
  const tick = element("input", { type: "checkbox", checked: isDone, change: () => act("list_complete_item", text, isDone ? { reopen: true } : {}) });
  const remove = labelled(t("remove"), text, () => act("list_remove_item", text));
  return element("li", { class: "item" }, element("label", {}, tick, element("span", { class: isDone ? "done" : "" }, text)), remove);
}
