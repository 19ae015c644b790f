import type { BacklogSample, Bound, FreeFloodFigures, StorySample } from '../result.ts';
import { megabytes, whole } from '../report/figure-text.ts';

const MOST_REDIS_BYTES = 4e6;
const MOST_QUEUE_BYTES = 32e6;
const MOST_RESIDENT_BYTES = 300e6;
const MOST_AGE_MS = 1000;
/** Of what waits. */
const LEAST_IN_KAFKA = 0.9;
/** Of the closed loop's. */
const LEAST_THROUGHPUT = 0.9;

export interface BoundsInput extends Omit<FreeFloodFigures, 'bounds'> {
  readonly samples: readonly StorySample[];
  /** Messages that reached sockets in a second of the flood. */
  readonly sentPerSecond: number;
  /** Sockets that were closed. */
  readonly closed: number;
  /** Whether the flood must be as fast as the closed loop. */
  readonly isCompared: boolean;
}

export function boundsOf(input: BoundsInput): Bound[] {
  const backlogs = input.samples.flatMap(({ phase, backlog }) =>
    backlog && (phase === 'flood' || phase === 'drain') ? [backlog] : [],
  );
  const largest = (of: (backlog: BacklogSample) => number) =>
    backlogs.reduce((most, one) => Math.max(most, of(one)), 0);
  const bytes = (name: string, value: number, limit: number) => atMost(name, value, limit, megabytes);
  const bounds = [
    bytes(
      "Redis's output buffer for a subscriber",
      largest(({ redisOutputBytes }) => redisOutputBytes),
      MOST_REDIS_BYTES,
    ),
    bytes(
      "a gateway's queues",
      largest(({ queueBytes }) => queueBytes),
      MOST_QUEUE_BYTES,
    ),
    bytes(
      'resident memory of a pod',
      largest(({ residentBytes }) => residentBytes),
      MOST_RESIDENT_BYTES,
    ),
    atMost('age from publish to the last socket, p99', input.age.p99Ms, MOST_AGE_MS, (ms) => `${whole(ms)} ms`),
    atMost(
      'gaps told',
      largest(({ gaps }) => gaps),
      0,
      whole,
    ),
    atMost('sockets closed', input.closed, 0, whole),
    atLeast('share of the backlog that is in Kafka', input.inKafka / input.undelivered, LEAST_IN_KAFKA),
  ];
  if (!input.isCompared) return bounds;
  return [
    ...bounds,
    atLeast("throughput, of the closed loop's", input.sentPerSecond / input.pacePerSecond, LEAST_THROUGHPUT),
  ];
}

function atMost(name: string, value: number, limit: number, text: (value: number) => string): Bound {
  return { name, value: text(value), limit: `<= ${text(limit)}`, isKept: value <= limit };
}

/** A share that cannot be told (0 / 0) is missed. */
function atLeast(name: string, value: number, limit: number): Bound {
  return { name, value: value.toFixed(2), limit: `>= ${limit.toFixed(2)}`, isKept: value >= limit };
}

/** One line for each bound that is missed. */
export function missedBounds(bounds: readonly Bound[]): string[] {
  return bounds.filter(({ isKept }) => !isKept).map(({ name, value, limit }) => `${name}: ${value}, expected ${limit}`);
}
