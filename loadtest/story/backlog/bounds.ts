import type { BacklogSample, Bound, OpenLoopFigures, StorySample } from '../result.ts';
import { megabytes, whole } from '../report/figure-text.ts';

const MAX_REDIS_BYTES = 4e6;
const MAX_QUEUE_BYTES = 32e6;
const MAX_RESIDENT_BYTES = 300e6;
const MAX_AGE_MS = 1000;
/** Share of the backlog. */
const MIN_IN_KAFKA = 0.9;
/** Share of the pace phase's. */
const MIN_THROUGHPUT = 0.9;

export interface BoundsInput extends Omit<OpenLoopFigures, 'bounds'> {
  readonly samples: readonly StorySample[];
  /** Messages a second that reached sockets in the flood. */
  readonly sentPerSecond: number;
  /** Number of closed sockets. */
  readonly closed: number;
  /** Whether the throughput of the pace phase is a bound. */
  readonly mustKeepPace: boolean;
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
      MAX_REDIS_BYTES,
    ),
    bytes(
      "a gateway's queues",
      largest(({ queueBytes }) => queueBytes),
      MAX_QUEUE_BYTES,
    ),
    bytes(
      'resident memory of a pod',
      largest(({ residentBytes }) => residentBytes),
      MAX_RESIDENT_BYTES,
    ),
    atMost('age from publish to the last socket, p99', input.age.p99Ms, MAX_AGE_MS, (ms) => `${whole(ms)} ms`),
    atMost(
      'gaps reported to clients',
      largest(({ gaps }) => gaps),
      0,
      whole,
    ),
    atMost('sockets closed', input.closed, 0, whole),
    atLeast('share of the backlog that is in Kafka', input.inKafka / input.undelivered, MIN_IN_KAFKA),
  ];
  if (!input.mustKeepPace) return bounds;
  return [
    ...bounds,
    atLeast("share of the pace phase's throughput", input.sentPerSecond / input.pacePerSecond, MIN_THROUGHPUT),
  ];
}

function atMost(name: string, value: number, limit: number, text: (value: number) => string): Bound {
  return { name, value: text(value), limit: `<= ${text(limit)}`, isKept: value <= limit };
}

/** An undefined share (0 / 0) misses its bound. */
function atLeast(name: string, value: number, limit: number): Bound {
  return { name, value: value.toFixed(2), limit: `>= ${limit.toFixed(2)}`, isKept: value >= limit };
}

/** One line per missed bound. */
export function missedBounds(bounds: readonly Bound[]): string[] {
  return bounds.filter(({ isKept }) => !isKept).map(({ name, value, limit }) => `${name}: ${value}, expected ${limit}`);
}
