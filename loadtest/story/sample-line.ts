import { megabytes, percent, whole } from './figure-text.ts';
import type { StorySample } from './result.ts';

/** Progress for a person: one second. */
export function sampleLine(sample: StorySample): string {
  const { phase, atMs, durationMs, gcMs, recordsConsumed, delivered } = sample;
  const gc = Object.values(gcMs).reduce((a, b) => a + b, 0);
  const columns = [
    phase.padEnd(5),
    `${whole(atMs / 1000)} s`.padStart(5),
    `heap ${megabytes(sample.heapUsedBytes).padStart(8)}`,
    `rss ${megabytes(sample.residentBytes).padStart(8)}`,
    `lag ${whole(sample.lagMs).padStart(5)} ms`,
    `gc ${percent((gc / durationMs) * 100).padStart(5)}`,
    `cpu ${percent((sample.cpuMs / durationMs) * 100).padStart(5)}`,
    `recv ${whole(recordsConsumed)}`,
    `send ${whole(delivered)}`,
  ];
  return columns.join('  ');
}
