// The browser's loudspeaker: plays passages and reports the playback position.

import { number } from "./texts.js";

const MOST_HZ = 96_000; // that the server sends
const AWAKE_WITHIN_MS = 1_000;

export class Loudspeaker {
  // `onPlayed(passage, samples, isPlayed)` is called while it plays.
  constructor(onPlayed) {
    this.context = new AudioContext({ latencyHint: "interactive" });
    this.onPlayed = onPlayed;
    this.node = null;
    this.volume = 1;
  }

  get rateHz() {
    return Math.min(MOST_HZ, this.context.sampleRate);
  }

  // Only pages on https or localhost have an audio worklet.
  get canPlay() {
    return this.context.audioWorklet !== undefined;
  }

  get isAwake() {
    return this.context.state === "running";
  }

  async load() {
    if (!this.canPlay) return;
    await this.context.audioWorklet.addModule("/page/playback-worklet.js");
    this.node = new AudioWorkletNode(this.context, "playback", { numberOfInputs: 0 });
    this.node.port.onmessage = ({ data }) => this.onPlayed(data.passage, data.samples, data.isPlayed);
    this.node.connect(this.context.destination);
    this.setVolume(this.volume);
  }

  // Browsers allow sound only after a click or a key. Returns whether it is allowed now.
  async wake() {
    if (!this.isAwake) await Promise.race([this.context.resume(), new Promise((done) => setTimeout(done, AWAKE_WITHIN_MS))]);
    return this.isAwake;
  }

  // Plays a sound file; returns its length in seconds.
  async playFile(file) {
    await this.wake();
    const buffer = await this.context.decodeAudioData(file);
    const source = new AudioBufferSourceNode(this.context, { buffer });
    source.connect(this.context.destination);
    source.start();
    return number(buffer.duration, 1);
  }

  setVolume(volume) {
    this.volume = volume;
    this.tell({ type: "volume", volume });
  }

  begin(passage, rateHz) {
    this.tell({ type: "begin", passage, rateHz });
  }

  samples(pcm) {
    this.tell({ type: "samples", pcm }, [pcm]);
  }

  end(passage) {
    this.tell({ type: "end", passage });
  }

  stop(passage) {
    this.tell({ type: "stop", passage });
  }

  duck(isDucked) {
    this.tell({ type: "duck", isDucked });
  }

  tell(message, transferred = []) {
    this.node?.port.postMessage(message, transferred);
  }
}
