// The editable settings in groups: a field for each, what else belongs there, a test, and a button that saves the changes.

import { deviceRoomField } from "./device-room.js";
import { button, byId, element } from "./element.js";
import { showNote } from "./markdown.js";
import { fromServer, known, languageName, serverLanguage, t } from "./texts.js";

// The tables of the settings file in each group.
const GROUPS = {
  voice: ["tts"],
  microphone: ["stt", "audio"],
  wake: ["wake"],
  people: [],
  rooms: ["home"],
  tones: ["ring", "sounds"],
  answers: ["llm"],
  privacy: ["memory", "records"],
};
const CHOSEN_IN_A_LIST = "tts.voice";

export class Settings {
  /** `parts` are elements by the group they belong to, `checks` has a test for some, `on.moved()` is called when this device changed its room. */
  constructor(server, checks, parts, on) {
    this.server = server;
    this.checks = checks;
    this.on = on;
    this.form = byId("settings");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.save();
    });
    this.form.addEventListener("input", () => this.note());
    this.fields = [];
    this.restart = element("p", { class: "note" });
    this.result = element("p", { class: "result", role: "status" });
    this.button = element("button", { type: "submit", class: "main", disabled: true }, t("save"));
    this.groups = Object.keys(GROUPS).map((name) => {
      const place = element("div");
      const test = name in Object.getPrototypeOf(checks) ? this.test(name) : null;
      const group = element("details", { class: "section", "data-group": name }, element("summary", {}, t(`group.${name}`)), parts[name], place, test);
      return { name, place, group };
    });
  }

  async refresh() {
    if (this.changed().length > 0) return; // keep what the user is editing
    await this.server.show("/v1/settings", (settings) => this.show(settings), ({ message }) => this.form.replaceChildren(message));
  }

  show({ data, in_force: when }) {
    showNote(this.restart, when === "restart" ? t("needsRestart") : "");
    this.fields = data.filter(({ name }) => name !== CHOSEN_IN_A_LIST).map((setting) => new Field(setting));
    for (const { name, place } of this.groups) {
      const fields = this.fields.filter((field) => GROUPS[name].includes(field.table)).map((field) => field.element);
      if (name === "rooms") fields.push(deviceRoomField(data.find((one) => one.name === "home.room").choices, this.on.moved));
      place.replaceChildren(...fields);
    }
    if (!this.result.isConnected) {
      this.form.replaceChildren(this.restart, ...this.groups.map(({ group }) => group), element("div", { class: "save row" }, this.button, this.result));
    }
  }

  test(name) {
    const said = element("p", { class: "result", role: "status" });
    const value = (wanted) => this.fields.find((field) => field.setting.name === wanted).raw;
    const click = async () => {
      test.disabled = true;
      said.textContent = await this.checks[name](said, value).catch((error) => error.message);
      test.disabled = false;
    };
    const test = button("quiet", () => void click(), t(`test.${name}`));
    return element("div", { class: "row test" }, test, said);
  }

  changed() {
    return this.fields.filter((field) => field.isChanged);
  }

  note() {
    const count = this.changed().length;
    this.button.disabled = count === 0;
    this.result.textContent = count === 0 ? "" : t("changed", { count });
  }

  async save() {
    const wanted = Object.fromEntries(this.changed().map((field) => [field.setting.name, field.value]));
    if (Object.keys(wanted).length === 0) return;
    try {
      const { in_force: when } = await this.server.patch("/v1/settings", wanted);
      for (const field of this.changed()) field.accept();
      this.note();
      this.result.textContent = t(when === "soon" ? "savedSoon" : "savedRestart");
    } catch (error) {
      this.result.textContent = error.message;
    }
  }
}

class Field {
  constructor(setting) {
    this.setting = setting;
    this.id = `setting-${setting.name}`;
    this.control = control(setting, this.id);
    this.control.disabled = !setting.is_changeable;
    this.before = this.raw;
    const { name, description, is_changeable: isChangeable, why_not: reason } = setting;
    const about = element("span", { class: "about", lang: serverLanguage(`about.${name}`) }, fromServer(`about.${name}`, description));
    if (!isChangeable) about.append("; ", element("span", { lang: "en" }, reason));
    const title = known(`setting.${name}`) ? t(`setting.${name}`) : name;
    this.element = element("div", { class: "field" }, element("label", { for: this.id, title: name }, title, about), this.control);
  }

  // The table of the settings file that contains it: "tts" for "tts.speed".
  get table() {
    return this.setting.name.split(".")[0];
  }

  get raw() {
    return this.control.type === "checkbox" ? this.control.checked : this.control.value;
  }

  get isChanged() {
    return this.raw !== this.before;
  }

  get value() {
    const types = typesOf(this.setting.schema);
    if (this.control.type === "checkbox") return this.raw;
    if (this.raw === "" && types.includes("null")) return null;
    if (types.includes("array")) return this.raw.split(",").map((item) => item.trim()).filter(Boolean);
    if (types.some((type) => type === "number" || type === "integer") && this.raw !== "" && !Number.isNaN(Number(this.raw))) return Number(this.raw);
    return this.raw;
  }

  accept() {
    this.before = this.raw;
  }
}

function control({ name, value, schema, expected, choices: offered }, id) {
  const types = typesOf(schema);
  if (types.includes("boolean") && types.length === 1) return element("input", { id, type: "checkbox", role: "switch", checked: value });
  const choices = offered.length > 0 ? [...new Set([value ?? "", ...offered])] : (schema.enum ?? schema.anyOf?.flatMap((part) => part.enum ?? []) ?? []);
  if (choices.length > 0) {
    return element("select", { id }, ...choices.map((choice) => element("option", { value: choice, selected: choice === value }, choiceName(name, choice))));
  }
  const shown = Array.isArray(value) ? value.join(", ") : (value ?? "");
  const isNumber = types.every((type) => type === "number" || type === "integer");
  if (!isNumber) return element("input", { id, type: "text", value: shown, title: expected, spellcheck: "false" });
  const limits = { min: schema.minimum ?? schema.exclusiveMinimum, max: schema.maximum ?? schema.exclusiveMaximum };
  return element("input", { id, type: "number", value: shown, step: types.includes("integer") ? 1 : "any", title: expected, ...limits });
}

// A value in people's words: a language by its name, "okay_nabu" as it is said.
function choiceName(name, choice) {
  if (choice === "") return t("noRoom");
  if (known(`choice.${choice}`)) return t(`choice.${choice}`);
  return name === "stt.language" ? languageName(choice) : choice.replaceAll("_", " ");
}

function typesOf(schema) {
  return schema.anyOf?.map((part) => part.type) ?? [schema.type];
}
