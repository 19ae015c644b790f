import type { StorySample } from './result.ts';

/** Progress for a person: one line a second. */
export class Ticker {
  readonly #output: { write(text: string): unknown };

  constructor(output: { write(text: string): unknown }) {
    this.#output = output;
  }

  tick(sample: StorySample): void {
    this.#output.write(`${sampleLine(sample)}\n`);
  }
}

export function sampleLine(sample: StorySample): string {
  const { phase, atMs, durationMs, heapUsedBytes, residentBytes, lagMs, gcMs, cpuMs, recordsConsumed, delivered } =
    sample;
  const gc = Object.values(gcMs).reduce((a, b) => a + b, 0);
  const share = (ms: number) => `${((ms / durationMs) * 100).toFixed(0)} %`.padStart(5);
  const columns = [
    phase.padEnd(5),
    `${(atMs / 1000).toFixed(0)} s`.padStart(5),
    `heap ${megabytes(heapUsedBytes)}`,
    `rss ${megabytes(residentBytes)}`,
    `lag ${lagMs.toFixed(0)} ms`.padEnd(11),
    `gc ${share(gc)}`,
    `cpu ${share(cpuMs)}`,
    `recv ${recordsConsumed.toLocaleString('en')}`,
    `send ${delivered.toLocaleString('en')}`,
  ];
  return columns.join('  ');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`.padStart(7);
}
