import type { LatencySummary } from '../scenarios/latency.ts';
import type { GcKind } from '../servers/heap-gauge.ts';

/** `pace`: a closed loop before a free flood. */
export type PhaseName = 'bare' | 'idle' | 'pace' | 'flood' | 'drain';

/** How long the three phases last. Connecting comes before the idle seconds, draining after those of the flood. */
export interface Phases {
  readonly bareSeconds: number;
  readonly idleSeconds: number;
  readonly floodSeconds: number;
}

export const SHORT_PHASES: Phases = { bareSeconds: 10, idleSeconds: 20, floodSeconds: 40 };
export const FULL_PHASES: Phases = { bareSeconds: 120, idleSeconds: 120, floodSeconds: 240 };

/** Of a second: where records and their bytes wait, the largest values. */
export interface BacklogSample {
  /** In Kafka: records that no worker has committed. */
  readonly kafkaRecords: number;
  /** In Redis, for one subscriber. */
  readonly redisOutputBytes: number;
  /** In a gateway, for its sockets: at the end of the second. */
  readonly queueBytes: number;
  /** Of a pod. */
  readonly residentBytes: number;
  /** Since the start: operations told that events may be missing. */
  readonly gaps: number;
  /** From a record's publish to its arrival at the last socket, of those that arrived in this second. */
  readonly ageP50Ms: number;
  readonly ageP99Ms: number;
}

/** About one second of the server's process. A server that is busy answers late: then the second is longer. */
export interface StorySample {
  readonly phase: PhaseName;
  /** When it was taken, since the start of the bare phase. */
  readonly atMs: number;
  /** What the sample covers: since the one before. */
  readonly durationMs: number;
  /** The largest value seen in that time. */
  readonly heapUsedBytes: number;
  readonly residentBytes: number;
  /** Memory outside the heap that belongs to its objects; array buffers are part of it. */
  readonly externalBytes: number;
  /** How late a timer fired, at most. */
  readonly lagMs: number;
  readonly gcMs: Readonly<Record<GcKind, number>>;
  readonly gcCount: Readonly<Record<GcKind, number>>;
  readonly cpuMs: number;
  /** Since the start: the pod's own counter. */
  readonly recordsConsumed: number;
  /** Copies of the flood that have reached a socket, since the start. */
  readonly delivered: number;
  /** Of a free flood. */
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
  /** Until every subscription was requested. */
  readonly connectMs: number;
  readonly flood: FloodFigures;
  readonly heap: HeapFigures;
  /** Of the first message; all have the same length. */
  readonly messageBytes: number;
  readonly clientCpuPercent: number;
  /** Share of the server's CPU time in the flood that garbage collection took. */
  readonly gcPercent: number;
  readonly producer: 'kcat' | 'kafkajs';
  /** undefined: the flood was paced. */
  readonly free: FreeFloodFigures | undefined;
  /** What must not be: one line each. Empty: every record that was produced reached every socket, once. */
  readonly faults: readonly string[];
}

/** Of a flood that waits for nobody. */
export interface FreeFloodFigures {
  /** Messages that reached sockets in a second of the closed loop before. */
  readonly pacePerSecond: number;
  /** Records that were to be written in a second. */
  readonly writtenPerSecond: number;
  /** When the writers stopped: records that had not reached every socket, and those of them that waited in Kafka. */
  readonly undelivered: number;
  readonly inKafka: number;
  /** From the flood's first record to the last. */
  readonly age: LatencySummary;
  readonly bounds: readonly Bound[];
}

/** What a free flood must keep to. */
export interface Bound {
  readonly name: string;
  /** With its unit. */
  readonly value: string;
  readonly limit: string;
  readonly isKept: boolean;
}

export interface FloodFigures {
  /** The window: from the first record until producing stopped. */
  readonly durationMs: number;
  /** Records that the pod took from Kafka in the window. */
  readonly received: number;
  /** Messages that reached sockets in the window. */
  readonly sent: number;
  /** Records in the topic, all of the flood: told by Kafka. */
  readonly produced: number;
  /** After the window, until the last record had reached every socket. */
  readonly drainMs: number;
  /** Messages that reached sockets, after the drain too; `produced` × sockets were due. */
  readonly delivered: number;
}

/** In bytes: largest of the phase; for idle and flood also the median of its seconds, the plateau. */
export interface HeapFigures {
  readonly bareMax: number;
  readonly idleMax: number;
  readonly idlePlateau: number;
  readonly floodMax: number;
  readonly floodPlateau: number;
}
