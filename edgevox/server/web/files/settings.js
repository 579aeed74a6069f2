// The editable settings: a field for each, and a button that saves the changes.

import { byId, element } from "./element.js";
import { Refused } from "./server.js";
import { t } from "./texts.js";

export class Settings {
  constructor(server) {
    this.server = server;
    this.form = byId("settings");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.save();
    });
    this.form.addEventListener("input", () => this.note());
    this.fields = [];
  }

  async refresh() {
    if (this.changed().length > 0) return; // keep what the user is editing
    try {
      const { data } = await this.server.get("/v1/settings");
      const said = this.result?.textContent ?? "";
      this.build(data);
      this.result.textContent = said;
    } catch (error) {
      if (error instanceof Refused) this.form.textContent = error.message;
    }
  }

  build(data) {
    this.fields = data.map((setting) => new Field(setting));
    const tables = [...new Set(this.fields.map((field) => field.table))];
    const groups = tables.map((table) => {
      const fields = this.fields.filter((field) => field.table === table);
      const about = element("span", { class: "about" }, fields[0].setting.section);
      return element("details", { class: "section" }, element("summary", {}, table, " ", about), ...fields.map((field) => field.element));
    });
    this.result = element("p", { class: "result", role: "status" });
    this.button = element("button", { type: "submit", class: "main", disabled: true }, t("save"));
    this.form.replaceChildren(...groups, element("div", { class: "save row" }, this.button, this.result));
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
      this.result.textContent = error instanceof Refused ? error.message : t("noAnswer");
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
    const about = [setting.description, setting.is_changeable ? "" : setting.why_not].filter(Boolean).join("; ");
    this.element = element(
      "div",
      { class: "field" },
      element("label", { for: this.id }, element("code", {}, setting.name), element("span", { class: "about" }, about)),
      this.control,
    );
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

function control({ value, schema, expected }, id) {
  const types = typesOf(schema);
  if (types.includes("boolean") && types.length === 1) return element("input", { id, type: "checkbox", role: "switch", checked: value });
  const choices = schema.enum ?? schema.anyOf?.flatMap((part) => part.enum ?? []) ?? [];
  if (choices.length > 0) {
    return element("select", { id }, ...choices.map((choice) => element("option", { value: choice, selected: choice === value }, `${choice}`)));
  }
  const shown = Array.isArray(value) ? value.join(", ") : (value ?? "");
  const isNumber = types.every((type) => type === "number" || type === "integer");
  if (!isNumber) return element("input", { id, type: "text", value: shown, title: expected, spellcheck: "false" });
  const limits = { min: schema.minimum ?? schema.exclusiveMinimum, max: schema.maximum ?? schema.exclusiveMaximum };
  return element("input", { id, type: "number", value: shown, step: types.includes("integer") ? 1 : "any", title: expected, ...limits });
}

function typesOf(schema) {
  return schema.anyOf?.map((part) => part.type) ?? [schema.type];
}
