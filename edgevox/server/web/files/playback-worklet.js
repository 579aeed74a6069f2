// Audio worklet: plays speech from a ring buffer and counts the played samples of each passage.

import { Resampler } from "./resampler.js";

const RING_S = 8; // the server sends three seconds ahead of what was played
const REPORT_EVERY_S = 0.2;
const DUCKED = 10 ** (-15 / 20);
const GAIN_STEP = 0.002;
const FADE = 0.97; // per sample, behind a sound that was cut: a click would be heard

class Playback extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ring = new Float32Array(RING_S * sampleRate);
    this.volume = 1;
    this.gain = 1;
    this.last = 0;
    this.clear();
    this.port.onmessage = ({ data }) => this.take(data);
  }

  // Includes a passage that was played to its end while it was being stopped.
  known(number) {
    return [...this.passages, this.finished].find((one) => one?.number === number) ?? new Passage(number, 0);
  }

  clear() {
    this.passages = [];
    this.finished = null;
    this.write = 0;
    this.read = 0;
    this.isDucked = false;
    this.unreported = 0;
  }

  take(message) {
    switch (message.type) {
      case "begin":
        this.passages.push(new Passage(message.passage, message.rateHz));
        break;
      case "samples":
        this.passages.at(-1)?.push(new Int16Array(message.pcm), (samples) => this.store(samples));
        break;
      case "end":
        this.passages.find((one) => one.number === message.passage)?.end();
        break;
      case "stop":
        this.report(this.known(message.passage));
        this.clear();
        break;
      case "duck":
        this.isDucked = message.isDucked;
        break;
      case "volume":
        this.volume = message.volume;
        break;
    }
  }

  // Returns the number of samples that fitted.
  store(samples) {
    const room = this.ring.length - (this.write - this.read);
    const count = Math.min(room, samples.length);
    for (let at = 0; at < count; at += 1) this.ring[(this.write + at) % this.ring.length] = samples[at];
    this.write += count;
    return count;
  }

  process(_inputs, [channels]) {
    const target = this.volume * (this.isDucked ? DUCKED : 1);
    const [first, ...others] = channels;
    for (let at = 0; at < first.length; at += 1) {
      this.gain += Math.max(-GAIN_STEP, Math.min(GAIN_STEP, target - this.gain));
      first[at] = this.next() * this.gain;
    }
    for (const other of others) other.set(first);
    this.advance(first.length);
    return true;
  }

  next() {
    const passage = this.passages[0];
    if (passage !== undefined && passage.played < passage.stored) {
      this.last = this.ring[this.read % this.ring.length];
      this.read += 1;
      passage.played += 1;
      if (passage.isPlayed) this.finish();
    } else {
      this.last *= FADE;
    }
    return this.last;
  }

  // Removes finished passages; the end of one may arrive after its last sample was played.
  finish() {
    while (this.passages[0]?.isPlayed) {
      this.finished = this.passages.shift();
      this.isDucked = false;
      this.report(this.finished);
    }
  }

  advance(samples) {
    this.finish();
    const passage = this.passages[0];
    if (passage === undefined) return;
    this.unreported += samples;
    if (this.unreported < REPORT_EVERY_S * sampleRate) return;
    this.report(passage);
  }

  report(passage) {
    this.unreported = 0;
    this.port.postMessage({ passage: passage.number, samples: passage.heard, isPlayed: passage.isPlayed });
  }
}

// A contiguous piece of speech. Counted at its own sample rate, stored at that of the loudspeaker.
class Passage {
  constructor(number, rateHz) {
    this.number = number;
    this.rateHz = rateHz;
    this.resampler = rateHz && rateHz !== sampleRate ? new Resampler(rateHz, sampleRate) : null;
    this.received = 0;
    this.stored = 0;
    this.played = 0;
    this.isWhole = false;
  }

  push(pcm, store) {
    this.received += pcm.length;
    const samples = Float32Array.from(pcm, (sample) => sample / 32_768);
    this.stored += store(this.resampler ? this.resampler.push(samples) : samples);
  }

  end() {
    this.isWhole = true;
  }

  get isPlayed() {
    return this.isWhole && this.played >= this.stored;
  }

  // In samples of the passage; at its end all of them, also those that the filter holds back.
  get heard() {
    if (this.isPlayed) return this.received;
    return Math.min(this.received, Math.floor((this.played * this.rateHz) / sampleRate));
  }
}

registerProcessor("playback", Playback);
