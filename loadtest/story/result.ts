import type { LatencySummary } from '../runner/latency.ts';
import type { GcKind } from '../servers/heap-gauge.ts';
import type { heapFigures } from './figures.ts';

/** `pace`: the closed loop before an open-loop flood. */
export type PhaseName = 'bare' | 'idle' | 'pace' | 'flood' | 'drain';

/** Durations of the phases. Connecting precedes `idleSeconds`; draining follows `floodSeconds`. */
export interface Phases {
  readonly bareSeconds: number;
  readonly idleSeconds: number;
  readonly floodSeconds: number;
}

export const SHORT_PHASES: Phases = { bareSeconds: 10, idleSeconds: 20, floodSeconds: 40 };
export const FULL_PHASES: Phases = { bareSeconds: 120, idleSeconds: 120, floodSeconds: 240 };

/** The backlog in one second, largest values. */
export interface BacklogSample {
  /** Records in Kafka that the consumer group has not committed. */
  readonly kafkaRecords: number;
  /** Output buffer of a Redis subscriber. */
  readonly redisOutputBytes: number;
  /** Queues of a gateway's sockets, at the end of the second. */
  readonly queueBytes: number;
  /** Resident memory of a pod. */
  readonly residentBytes: number;
  /** Gaps reported to operations since the start. */
  readonly gaps: number;
  /** From publish to the last socket, of records that arrived there in this second. */
  readonly ageP50Ms: number;
  readonly ageP99Ms: number;
}

/** About one second of a pod. A busy pod answers late, which makes its sample longer. */
export interface StorySample {
  readonly phase: PhaseName;
  /** Time of the sample since the start of the bare phase. */
  readonly atMs: number;
  /** Time since the previous sample. */
  readonly durationMs: number;
  /** Largest value of the sample. */
  readonly heapUsedBytes: number;
  readonly residentBytes: number;
  /** Memory outside the heap that is bound to JavaScript objects, with array buffers. */
  readonly externalBytes: number;
  /** Largest delay of a timer. */
  readonly lagMs: number;
  readonly gcMs: Readonly<Record<GcKind, number>>;
  readonly gcCount: Readonly<Record<GcKind, number>>;
  readonly cpuMs: number;
  /** Records taken from Kafka since the start, by the pods' counters. */
  readonly recordsConsumed: number;
  /** Copies of the flood delivered to sockets since the start. */
  readonly delivered: number;
  /** Set for an open-loop flood. */
  readonly backlog?: BacklogSample;
}

export interface PhaseSpan {
  readonly name: PhaseName;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface StoryResult {
  readonly pod: string;
  readonly title: string;
  readonly sockets: number;
  readonly phases: readonly PhaseSpan[];
  readonly samples: readonly StorySample[];
  /** Time until every socket had sent its subscription. */
  readonly connectMs: number;
  readonly flood: FloodFigures;
  readonly heap: ReturnType<typeof heapFigures>;
  /** Length of every message. */
  readonly messageBytes: number;
  readonly clientCpuPercent: number;
  /** Garbage collection in percent of the pod's CPU time in the flood. */
  readonly gcPercent: number;
  readonly producer: 'kcat' | 'kafkajs';
  /** undefined: the flood was a closed loop. */
  readonly openLoop: OpenLoopFigures | undefined;
  /** One line per fault. Empty: every record reached every socket exactly once. */
  readonly faults: readonly string[];
}

/** Figures of an open-loop flood. */
export interface OpenLoopFigures {
  /** Messages a second that reached sockets in the pace phase. */
  readonly pacePerSecond: number;
  /** Records a second that the writers aimed at. */
  readonly writtenPerSecond: number;
  /** When the writers stopped: records that had not reached every socket, and how many of them were in Kafka. */
  readonly undelivered: number;
  readonly inKafka: number;
  /** Ages of the flood's records. */
  readonly age: LatencySummary;
  readonly bounds: readonly Bound[];
}

/** A limit of an open-loop flood. */
export interface Bound {
  readonly name: string;
  /** With its unit. */
  readonly value: string;
  readonly limit: string;
  readonly isKept: boolean;
}

export interface FloodFigures {
  /** The window: from the first record until the writers stopped. */
  readonly durationMs: number;
  /** Records that the pods took from Kafka in the window. */
  readonly received: number;
  /** Messages that reached sockets in the window. */
  readonly sent: number;
  /** Records of the flood in the topic, by Kafka's end offsets. */
  readonly produced: number;
  /** Time from the end of the window until the last record had reached every socket. */
  readonly drainMs: number;
  /** Messages that reached sockets, with the drain. Expected: `produced` × sockets. */
  readonly delivered: number;
}
