import { megabytes, whole } from '../report/tables.ts';
import type { BacklogSample, Bound, OpenLoopFigures, StorySample } from '../result.ts';

export interface BoundsInput extends Omit<OpenLoopFigures, 'bounds'> {
  readonly samples: readonly StorySample[];
  /** Messages a second that reached sockets in the flood. */
  readonly sentPerSecond: number;
  /** Number of closed sockets. */
  readonly closed: number;
  /** Whether the throughput of the pace phase is a bound. */
  readonly mustKeepPace: boolean;
}

export function boundsOf({ samples, age, closed, inKafka, undelivered, ...input }: BoundsInput): Bound[] {
  const backlogs = samples.flatMap(({ phase, backlog }) => (backlog && /^(flood|drain)$/.test(phase) ? [backlog] : []));
  const largest = (of: keyof BacklogSample) => Math.max(0, ...backlogs.map((backlog) => backlog[of]));
  const bounds = [
    atMost("Redis's output buffer for a subscriber", largest('redisOutputBytes'), 4e6, megabytes),
    atMost("a gateway's queues", largest('queueBytes'), 32e6, megabytes),
    atMost('resident memory of a pod', largest('residentBytes'), 300e6, megabytes),
    atMost('age from publish to the last socket, p99', age.p99Ms, 1000, (ms) => `${whole(ms)} ms`),
    atMost('gaps reported to clients', largest('gaps'), 0, whole),
    atMost('sockets closed', closed, 0, whole),
    atLeast('share of the backlog that is in Kafka', inKafka / undelivered, 0.9),
  ];
  if (!input.mustKeepPace) return bounds;
  return [...bounds, atLeast("share of the pace phase's throughput", input.sentPerSecond / input.pacePerSecond, 0.9)];
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
