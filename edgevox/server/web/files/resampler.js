// Streaming resampler: a windowed sinc, which prevents aliasing.

const ZERO_CROSSINGS = 12;
const PASSED = 0.92; // of the lower of the two limits; the rest is the filter's slope

export class Resampler {
  constructor(fromHz, toHz) {
    const common = divisor(fromHz, toHz);
    this.phases = toHz / common;
    this.step = fromHz / common;
    const cutoff = Math.min(1, toHz / fromHz) * PASSED;
    this.half = Math.ceil(ZERO_CROSSINGS / cutoff);
    this.taps = filters(this.phases, this.half, cutoff);
    this.reset();
  }

  // Resets the filter: the next sample begins a new sound.
  reset() {
    this.kept = new Float32Array(2 * this.half);
    this.phase = 0;
  }

  // Returns the resampled samples; the filter holds back the last few until the next call.
  push(samples) {
    const width = 2 * this.half;
    const line = new Float32Array(this.kept.length + samples.length);
    line.set(this.kept);
    line.set(samples, this.kept.length);
    const most = Math.ceil(((line.length - width) * this.phases) / this.step) + 1;
    const out = new Float32Array(Math.max(0, most));
    let count = 0;
    let start = 0;
    let phase = this.phase;
    while (start + width < line.length) {
      const offset = phase * width;
      let sum = 0;
      for (let tap = 0; tap < width; tap += 1) sum += line[start + tap] * this.taps[offset + tap];
      out[count] = sum;
      count += 1;
      phase += this.step;
      start += Math.floor(phase / this.phases);
      phase %= this.phases;
    }
    this.kept = line.slice(start);
    this.phase = phase;
    return out.subarray(0, count);
  }
}

function filters(phases, half, cutoff) {
  const width = 2 * half;
  const taps = new Float32Array(phases * width);
  for (let phase = 0; phase < phases; phase += 1) {
    let sum = 0;
    for (let tap = 0; tap < width; tap += 1) {
      const at = tap - half + 1 - phase / phases;
      const value = sinc(at * cutoff) * window(at / half);
      taps[phase * width + tap] = value;
      sum += value;
    }
    for (let tap = 0; tap < width; tap += 1) taps[phase * width + tap] /= sum;
  }
  return taps;
}

function sinc(x) {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

// Blackman window over -1 … 1.
function window(x) {
  if (Math.abs(x) >= 1) return 0;
  return 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);
}

function divisor(a, b) {
  return b === 0 ? a : divisor(b, a % b);
}
