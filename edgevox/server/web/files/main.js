// Entry point of the page: creates and connects its parts.

import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { Conversation } from "./conversation.js";
import { deviceRoom } from "./device-room.js";
import { button, byId } from "./element.js";
import { Engines } from "./engines.js";
import { History } from "./history.js";
import { Home } from "./home.js";
import { icon } from "./icons.js";
import { Loudspeaker } from "./loudspeaker.js";
import { showNote } from "./markdown.js";
import { Microphone } from "./microphone.js";
import { Plans } from "./plans.js";
import { Ring } from "./ring.js";
import { Room } from "./room.js";
import { Server } from "./server.js";
import { VoiceSocket } from "./socket.js";
import { fromServer, number, speakIn, spoken, t, translatePage } from "./texts.js";
import { Timing } from "./timing.js";
import { forgetToken, keepToken, takeToken } from "./token.js";
import { Tools } from "./tools.js";
import { Views } from "./views.js";

const BUSY = new Set(["understanding", "thinking", "acting", "asking", "speaking"]);
const NO_SERVER = 1006; // the close code of a connection that failed
const NOT_TAKEN = new Set(["busy", "empty"]);

translatePage();
const server = new Server(takeToken());
const home = new Home(server, act);
const plans = new Plans(server, act);
const timing = new Timing(server, (turns) => history.offer(turns));
const tools = new Tools(server);
const engines = new Engines(server);
const views = new Views();
let played_s = 0;
let rateHz = 0;
let mayConfirm = false;
let system = null;
let isSystemSeen = false;
let isChanging = false; // the microphone: a browser may ask the person first

const loudspeaker = new Loudspeaker((passage, samples, isPlayed) => {
  if (passage > 0) socket.send({ type: "played", passage, samples }); // 0 is the end of all, when a connection ended
  if (isPlayed) {
    played_s += samples / rateHz;
    engines.tell({ played: `${number(played_s, 1)} s` });
  }
});
const microphone = new Microphone({
  frame: (frame) => socket.sendSound(frame),
  level: (level) => byId("microphone").style.setProperty("--level", Math.min(1, level * 6).toFixed(2)),
  gone: () => {
    void talk();
    notice(t("microphoneGone"));
  },
});
const composer = new Composer((text) => void send(text));
const conversation = new Conversation({
  confirm: {
    here: (token, granted) => socket.send({ type: "confirm", token, granted }),
    room: (token, granted) => server.post(`/v1/confirmations/${token}`, { granted }).catch((error) => notice(error.message)),
  },
  isHeard: () => microphone.isOn,
  asked,
  repeat: (text) => void send(text),
});
const history = new History(server, {
  isShown: (id) => conversation.turns.has(id),
  repeat: (text) => void send(text),
  said: (texts) => composer.addEarlier(texts),
});
const ring = new Ring(loudspeaker, {
  stop: () => socket.send({ type: "stop" }),
  snooze: () => socket.send({ type: "snooze" }),
});
const room = new Room(server, (frame) => {
  conversation.take({ ...frame, may_answer: mayConfirm }, "room");
  if (frame.type === "state" && frame.state === "hearing") system?.checks.heard();
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
  () => ({ token: server.token, rate_hz: 16_000, play_rate_hz: loudspeaker.rateHz, speak: loudspeaker.canPlay, room: deviceRoom() }),
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
      if (frame.waterfall?.stages.length > 0) timing.show({ ...frame.waterfall, heard: frame.heard });
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
      ring.take(frame);
      void plans.refresh();
      break;
    case "error":
      notice(fromServer(`error.${frame.code}`, frame.message));
      if (NOT_TAKEN.has(frame.code)) composer.giveBack(conversation.unqueue());
      break;
  }
}

function greet(hello) {
  notice("");
  showState("listening");
  byId("microphone").disabled = !hello.listens;
  byId("microphone").title = hello.listens ? "" : t("noRecognition");
  mayConfirm = hello.may_confirm;
  showExamples(hello.language);
  void room.listen();
  void Promise.all([home.watch(), plans.watch(), engines.watch(), history.begin(), timing.refresh(), tools.refresh(), isSystemSeen && watchSystem()]);
}

function showExamples(code) {
  speakIn(code);
  const examples = [1, 2, 3, 4].map((number) => spoken(`example${number}`));
  byId("examples").replaceChildren(...examples.map((words) => button("example", () => void send(words), words)));
}

function refresh() {
  void Promise.all([home.refresh(), plans.refresh(), timing.refresh(), tools.refresh()]);
}

function changed(status) {
  connection.show(status);
  if (status.kind === "open") return;
  if (status.code === 4401) forgetToken();
  if (status.code === NO_SERVER) notice(t("unreachable"));
  showState("offline");
  loudspeaker.stop(0); // passages are numbered anew on the next connection
  conversation.abandon();
  for (const part of [room, home, plans, engines, system, ring]) part?.rest();
}

// Few look at the settings, which are many: they are loaded when they are seen.
async function watchSystem() {
  const { System } = await import("./system.js").catch(() => ({})); // without a server, the next connection tries again
  if (System === undefined) return;
  const ask = (text) => {
    views.show("talk");
    void send(text);
  };
  system ??= new System(server, loudspeaker, { act, ask, moved: () => socket.connect() });
  if (socket.isOpen) await system.watch();
}

function showState(state) {
  byId("state").dataset.state = state;
  byId("state-words").textContent = t(`state.${state === "listening" && microphone.isOn ? "microphone" : state}`);
  byId("stop").hidden = !BUSY.has(state);
}

function notice(words) {
  showNote(byId("notice"), words);
}

// Makes a tool call, as a turn of this page.
function act(name, given) {
  notice("");
  if (!socket.send({ type: "call", name, arguments: given })) notice(t("notSent"));
}

// A question is shown where it is seen, and the safe answer has the focus unless somebody types.
function asked(card) {
  if (!views.isShown("talk")) byId("asked").append(card.element);
  if (composer.isEmpty) card.no.focus();
}

async function send(text) {
  history.clear();
  await loudspeaker.wake();
  if (socket.send({ type: "text", text })) conversation.queue(text);
  else {
    notice(t("notSent"));
    composer.giveBack(text);
  }
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
  engines.tell({ microphone: t(microphone.isOn ? "microphoneOn" : "off") });
  showState(byId("state").dataset.state);
}

new IntersectionObserver(([{ isIntersecting }], observer) => {
  if (!isIntersecting) return;
  observer.disconnect();
  isSystemSeen = true;
  void watchSystem();
}).observe(byId("system"));
byId("microphone").append(icon("microphone"));
byId("microphone").addEventListener("click", () => void talk());
byId("stop").addEventListener("click", () => socket.send({ type: "stop" }));
byId("sound").addEventListener("click", ({ currentTarget }) => {
  const isOn = loudspeaker.volume === 0;
  loudspeaker.setVolume(isOn ? 1 : 0);
  currentTarget.setAttribute("aria-pressed", `${isOn}`);
});
// A page that a browser keeps for its back button would hold its connections, of which a browser has few for one server.
addEventListener("pagehide", () => {
  room.rest();
  socket.leave();
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && server.token) socket.connect();
});
addEventListener("hashchange", () => {
  const token = takeToken();
  if (token === server.token) return;
  server.token = token;
  socket.connect();
});

// What the first visit loads comes before the service worker, which keeps all that is loaded later.
async function keepPage() {
  const isFirst = !navigator.serviceWorker.controller;
  await navigator.serviceWorker.register("/page/service-worker.js", { scope: "/" });
  const worklets = ["playback", "capture"].map((name) => `/page/${name}-worklet.js`);
  const parts = performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.includes("/page/"));
  if (isFirst) await (await caches.open("edgevox-page")).addAll(["/", ...worklets, ...new Set(parts)]);
}

await loudspeaker.load().catch(() => {}); // the page works without sound
if (server.token) socket.connect();
else connection.askForToken();
if (navigator.serviceWorker) void keepPage().catch(() => {}); // it works without
