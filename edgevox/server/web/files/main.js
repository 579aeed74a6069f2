// Entry point of the page: creates and connects its parts.

import { Connection } from "./connection.js";
import { Conversation } from "./conversation.js";
import { byId, element } from "./element.js";
import { Engines } from "./engines.js";
import { Home } from "./home.js";
import { icon } from "./icons.js";
import { Loudspeaker } from "./loudspeaker.js";
import { Microphone } from "./microphone.js";
import { Room } from "./room.js";
import { Server } from "./server.js";
import { Settings } from "./settings.js";
import { VoiceSocket } from "./socket.js";
import { Timing } from "./timing.js";
import { forgetToken, keepToken, takeToken } from "./token.js";
import { Tools } from "./tools.js";
import { Views } from "./views.js";

const EXAMPLES = ["Turn on the kitchen light", "Is the front door locked?", "Set a timer for five minutes", "What is the weather like?"];
const STATES = {
  offline: "Not connected",
  listening: "Ready",
  hearing: "Hearing you …",
  understanding: "Understanding …",
  thinking: "Thinking …",
  acting: "Doing it …",
  asking: "Yes or no?",
  speaking: "Speaking …",
};
const BUSY = new Set(["understanding", "thinking", "acting", "asking", "speaking"]);

const server = new Server(takeToken());
const home = new Home(server);
const timing = new Timing(server);
const tools = new Tools(server);
const engines = new Engines(server);
const settings = new Settings(server);
let played_s = 0;
let rateHz = 0;
let mayConfirm = false;
let isChanging = false; // the microphone: a browser may ask the person first

const loudspeaker = new Loudspeaker((passage, samples, isPlayed) => {
  socket.send({ type: "played", passage, samples });
  if (isPlayed) {
    played_s += samples / rateHz;
    engines.tell({ "played here": `${played_s.toFixed(1)} s` });
  }
});
const microphone = new Microphone({
  frame: (frame) => socket.sendSound(frame),
  level: (level) => byId("microphone").style.setProperty("--level", Math.min(1, level * 6).toFixed(2)),
  gone: () => {
    void talk();
    notice("The microphone was disconnected.");
  },
});
const conversation = new Conversation({
  here: (token, granted) => socket.send({ type: "confirm", token, granted }),
  room: (token, granted) => server.post(`/v1/confirmations/${token}`, { granted }).catch((error) => notice(error.message)),
});
const room = new Room(server, (frame) => {
  conversation.take({ ...frame, may_answer: mayConfirm }, "room");
  if (frame.type === "done") refresh();
});
const connection = new Connection({
  retry: () => socket.connect(),
  token: (token) => {
    keepToken(token);
    server.token = token;
    socket.connect();
  },
});
const socket = new VoiceSocket(
  () => ({ token: server.token, rate_hz: 16_000, play_rate_hz: loudspeaker.rateHz, speak: loudspeaker.canPlay }),
  { frame: take, sound: (pcm) => loudspeaker.samples(pcm), changed },
);

function take(frame) {
  conversation.take(frame);
  switch (frame.type) {
    case "hello":
      greet(frame);
      break;
    case "state":
      showState(frame.state);
      break;
    case "tool_result":
      void home.refresh();
      break;
    case "done":
      if (frame.waterfall) timing.show({ ...frame.waterfall, heard: frame.heard });
      refresh();
      break;
    case "audio_begin":
      rateHz = frame.rate_hz;
      void loudspeaker.wake();
      loudspeaker.begin(frame.passage, frame.rate_hz);
      break;
    case "audio_end":
      loudspeaker.end(frame.passage);
      break;
    case "audio_stop":
      loudspeaker.stop(frame.passage);
      break;
    case "audio_duck":
      loudspeaker.duck(frame.is_ducked);
      break;
    case "engine":
      engines.take(frame);
      break;
    case "ring":
      notice(frame.is_ringing ? frame.text : "");
      break;
    case "error":
      notice(frame.message);
      break;
  }
}

function greet(hello) {
  notice("");
  showState("listening");
  byId("microphone").disabled = !hello.listens;
  byId("microphone").title = hello.listens ? "" : "This server has no speech recognition";
  mayConfirm = hello.may_confirm;
  void room.listen();
  void Promise.all([home.watch(), engines.watch(), timing.refresh(), tools.refresh(), settings.refresh()]);
}

function refresh() {
  void Promise.all([home.refresh(), timing.refresh(), tools.refresh()]);
}

function changed(status) {
  connection.show(status);
  if (status.kind === "open") return;
  if (status.code === 4401) forgetToken();
  showState("offline");
  loudspeaker.stop(0); // passages are numbered anew on the next connection
  conversation.abandon();
  room.rest();
  home.rest();
  engines.rest();
}

function showState(state) {
  byId("state").dataset.state = state;
  const words = state === "listening" && microphone.isOn ? "Listening" : STATES[state];
  byId("state-words").textContent = words ?? state;
  byId("stop").hidden = !BUSY.has(state);
}

function notice(words) {
  byId("notice").textContent = words;
  byId("notice").hidden = words === "";
}

async function send(text) {
  if (!text) return;
  await loudspeaker.wake();
  if (socket.send({ type: "text", text })) conversation.queue(text);
  else notice("Not connected: it was not sent.");
}

async function talk() {
  if (isChanging) return;
  isChanging = true;
  if (microphone.isOn) {
    microphone.stop();
    socket.send({ type: "audio_end" });
  } else {
    try {
      const trouble = Microphone.trouble();
      if (trouble) throw new Error(trouble);
      await loudspeaker.wake();
      await microphone.start(loudspeaker.context);
      notice("");
    } catch (error) {
      notice(error.message);
    }
  }
  isChanging = false;
  byId("microphone").setAttribute("aria-pressed", `${microphone.isOn}`);
  engines.tell({ microphone: microphone.isOn ? "on, 16 kHz" : "off" });
  showState(byId("state").dataset.state);
}

new Views();
byId("microphone").append(icon("microphone"));
byId("microphone").addEventListener("click", () => void talk());
byId("stop").addEventListener("click", () => socket.send({ type: "stop" }));
byId("sound").addEventListener("click", ({ currentTarget: button }) => {
  const isOn = loudspeaker.volume === 0;
  loudspeaker.setVolume(isOn ? 1 : 0);
  button.textContent = isOn ? "Sound on" : "Sound off";
});
byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byId("words");
  void send(field.value.trim());
  field.value = "";
});
byId("examples").append(
  ...EXAMPLES.map((words) => element("button", { type: "button", class: "example", click: () => void send(words) }, words)),
);
addEventListener("hashchange", () => {
  const token = takeToken();
  if (token === server.token) return;
  server.token = token;
  socket.connect();
});

await loudspeaker.load();
if (server.token) socket.connect();
else connection.askForToken();
