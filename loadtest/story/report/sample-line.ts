import { megabytes, percent, whole } from './figure-text.ts';
import type { BacklogSample, StorySample } from '../result.ts';

/** The progress line of one sample. */
export function sampleLine(sample: StorySample): string {
  const { phase, atMs, durationMs, gcMs, recordsConsumed, delivered, backlog } = sample;
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
    ...(backlog ? backlogColumns(backlog) : []),
  ];
  return columns.join('  ');
}

function backlogColumns(backlog: BacklogSample): string[] {
  return [
    `Kafka ${whole(backlog.kafkaRecords)}`,
    `Redis ${megabytes(backlog.redisOutputBytes)}`,
    `queue ${megabytes(backlog.queueBytes)}`,
    `age ${whole(backlog.ageP50Ms)}/${whole(backlog.ageP99Ms)} ms`,
    `gaps ${whole(backlog.gaps)}`,
  ];
}
