// Audio worklet: converts the microphone to frames of 20 ms, 16 kHz, mono, 16 bit, each with its level.

import { Resampler } from "./resampler.js";

const RATE_HZ = 16_000;
const FRAME_SAMPLES = RATE_HZ / 50;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(sampleRate, RATE_HZ);
    this.frame = new Int16Array(FRAME_SAMPLES);
    this.filled = 0;
    this.energy = 0;
    this.isOver = false;
    this.port.onmessage = () => {
      this.isOver = true;
    };
  }

  process([channels]) {
    if (channels.length > 0) {
      for (const sample of this.resampler.push(mono(channels))) this.take(sample);
    }
    return !this.isOver;
  }

  take(sample) {
    const held = Math.max(-1, Math.min(1, sample));
    this.frame[this.filled] = Math.round(held * 32_767);
    this.energy += held * held;
    this.filled += 1;
    if (this.filled < FRAME_SAMPLES) return;
    const level = Math.sqrt(this.energy / FRAME_SAMPLES);
    this.port.postMessage({ frame: this.frame.buffer, level }, [this.frame.buffer]);
    this.frame = new Int16Array(FRAME_SAMPLES);
    this.filled = 0;
    this.energy = 0;
  }
}

function mono(channels) {
  if (channels.length === 1) return channels[0];
  return channels[0].map((_, at) => channels.reduce((sum, one) => sum + one[at], 0) / channels.length);
}

registerProcessor("capture", Capture);
