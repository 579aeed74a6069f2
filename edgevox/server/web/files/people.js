// The people that the assistant knows by their voices: who they are, a new one, a test, and removing one.

import { button, element, field, labelled } from "./element.js";
import { KeyedList } from "./list.js";
import { showNote } from "./markdown.js";
import { Microphone, openMicrophone } from "./microphone.js";
import { t } from "./texts.js";
import { speakerName } from "./turn.js";

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
    this.test = button("quiet", () => void this.recognise(), t("test.people"));
    this.form = element("div", {}, element("div", { class: "row" }, this.name, this.begin), this.test);
    this.encoder = element("p", { class: "row", hidden: true });
    this.element = element("div", { class: "people" }, element("p", { class: "note" }, t("peopleAbout")), place, this.encoder, this.form, this.step, this.note);
    this.sentences = [];
  }

  async refresh() {
    const show = ({ people, sentences }) => {
      this.sentences = sentences;
      this.list.show(people.map(({ name }) => ({ id: name })));
      this.test.hidden = people.length === 0;
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
    const count = this.sentences.length;
    const abouts = this.sentences.map((_sentence, at) => t("readAloud", { number: at + 1, count }));
    await this.recorded(this.sentences, abouts, async (recordings) => {
      await this.server.post("/v1/people", { name, recordings });
      this.name.value = "";
      return t("personAdded", { name });
    });
  }

  // Tells whose voice is heard.
  async recognise() {
    await this.recorded([t("anySentence")], [t("readAny")], async ([recording]) => {
      const { speaker } = await this.server.post("/v1/people/recognise", { recording });
      return t(speaker === "guest" ? "check.stranger" : "check.speaker", { name: speakerName(speaker) });
    });
  }

  // The model that tells voices apart: `download` is the button or the progress of its download, null where it is there.
  need(download) {
    this.encoder.hidden = download === null;
    this.form.hidden = download !== null;
    if (download !== null) this.encoder.replaceChildren(t("needsEncoder"), download);
  }

  // Records the sentences, and has `act` do something with the recordings, which returns what to say.
  async recorded(sentences, abouts, act) {
    this.form.hidden = true;
    showNote(this.note, "");
    await this.try(async () => {
      const trouble = Microphone.trouble();
      if (trouble) throw new Error(trouble);
      const stream = await openMicrophone();
      const recordings = [];
      try {
        for (const [at, sentence] of sentences.entries()) recordings.push(await this.record(stream, sentence, abouts[at]));
      } finally {
        for (const track of stream.getTracks()) track.stop();
      }
      return act(recordings);
    });
    this.form.hidden = false;
    this.step.hidden = true;
    this.name.focus();
  }

  // Returns a recording of the sentence in base64.
  record(stream, sentence, about) {
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
    this.step.replaceChildren(element("p", { class: "note" }, about), element("p", { class: "large" }, sentence), step);
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
