// The people that the assistant knows by their voices: who they are, a new one, and removing one.

import { button, element, field, labelled, showNote } from "./element.js";
import { KeyedList } from "./list.js";
import { Microphone, openMicrophone } from "./microphone.js";
import { t } from "./texts.js";

export class People {
  constructor(server) {
    this.server = server;
    this.name = field(t("personName"), { type: "text", maxlength: 40 });
    this.name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // it stands in the form of the settings
      void this.enrol();
    });
    this.begin = button("", () => void this.enrol(), t("add"));
    this.step = element("div", { class: "step", hidden: true });
    this.note = element("p", { class: "result", role: "status", hidden: true });
    const place = element("ul");
    this.list = new KeyedList(place, (person) => this.person(person));
    this.form = element("div", { class: "row" }, this.name, this.begin);
    this.element = element("div", { class: "people" }, element("p", { class: "note" }, t("peopleAbout")), place, this.form, this.step, this.note);
    this.sentences = [];
  }

  async refresh() {
    const show = ({ people, sentences }) => {
      this.sentences = sentences;
      this.list.show(people.map(({ name }) => ({ id: name })));
    };
    await this.server.show("/v1/people", show, ({ status, message }) => {
      this.form.hidden = true;
      showNote(this.note, status === 404 ? t("noPeople") : message);
    });
  }

  person({ id }) {
    const remove = () => void this.try(() => this.server.delete(`/v1/people/${encodeURIComponent(id)}`).then(() => ""));
    return element("li", { class: "plan", "data-person": id }, element("span", { class: "name" }, id), labelled(t("remove"), id, remove));
  }

  // Each sentence is read aloud between two taps.
  async enrol() {
    const name = this.name.value.trim();
    if (name === "") {
      this.name.focus();
      return;
    }
    this.form.hidden = true;
    await this.try(async () => {
      const trouble = Microphone.trouble();
      if (trouble) throw new Error(trouble);
      const stream = await openMicrophone();
      try {
        const recordings = [];
        for (const sentence of this.sentences) recordings.push(await this.record(stream, sentence, recordings.length + 1));
        await this.server.post("/v1/people", { name, recordings });
      } finally {
        for (const track of stream.getTracks()) track.stop();
      }
      this.name.value = "";
      return t("personAdded", { name });
    });
    this.form.hidden = false;
    this.step.hidden = true;
  }

  // Returns a recording of the sentence in base64.
  record(stream, sentence, number) {
    const recorder = new MediaRecorder(stream);
    const click = () => {
      if (recorder.state === "inactive") {
        recorder.start();
        return;
      }
      step.disabled = true;
      recorder.stop();
    };
    const step = button("main", click, t("record"));
    recorder.onstart = () => (step.textContent = t("recorded"));
    const recorded = new Promise((done) => {
      recorder.ondataavailable = ({ data }) => done(base64(data));
    });
    const about = element("p", { class: "note" }, t("readAloud", { number, count: this.sentences.length }));
    this.step.replaceChildren(about, element("p", { class: "large" }, sentence), step);
    this.step.hidden = false;
    step.focus();
    return recorded;
  }

  async try(act) {
    showNote(this.note, await act().catch((error) => error.message));
    await this.refresh();
  }
}

function base64(blob) {
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.split(",")[1]);
    reader.readAsDataURL(blob);
  });
}
