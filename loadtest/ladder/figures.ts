import { sum } from '../runner/spread.ts';
import type { StoryResult } from '../story/result.ts';
import { BASELINE, CRIER, END_STATE } from './rungs.ts';
import type { Rung } from './rungs.ts';

const MEGABYTE = 1_000_000;

/** Figures of one run. Rates are means over the flood. */
export type Figures = ReturnType<typeof figuresOf>;

/** Figures divided by those of the baseline in the same run. */
export type Ratios = ReturnType<typeof ratiosOf>;

export interface LadderRow extends Omit<Rung, 'pod'> {
  /** undefined if the rung did not run. */
  readonly measured: (Figures & Partial<{ readonly ratios: Ratios }>) | undefined;
  /** The talk's figures divided by those of its baseline, where the talk gave them. */
  readonly talkRatios: Partial<Ratios>;
}

export function figuresOf({ flood, heap, samples, gcPercent, clientCpuPercent }: StoryResult) {
  const inFlood = samples.filter(({ phase }) => phase === 'flood');
  const covered = sum(inFlood.map(({ durationMs }) => durationMs));
  const seconds = flood.durationMs / 1000;
  const cpuMs = sum(inFlood.map((sample) => sample.cpuMs)) * (flood.durationMs / covered);
  return {
    seconds,
    /** Records taken from Kafka, and messages that reached sockets. */
    ...{ received: flood.received, sent: flood.sent },
    sentPerSecond: flood.sent / seconds,
    /** CPU time of the server's process per message that reached a socket. */
    cpuUs: (cpuMs * 1000) / flood.sent,
    /** Heap used: the median of the phase's second half. The idle phase starts after a collection. */
    idleMegabytes: heap.idlePlateau / MEGABYTE,
    floodMegabytes: heap.floodPlateau / MEGABYTE,
    residentMegabytes: Math.max(...samples.map(({ residentBytes }) => residentBytes)) / MEGABYTE,
    scavenges: sum(inFlood.map(({ gcCount }) => gcCount.scavenge)),
    ...{ gcPercent, clientCpuPercent },
  };
}

/** Rows of the table. They have ratios only if the baseline ran. */
export function rowsOf(rungs: readonly Rung[], figures: ReadonlyMap<string, Figures>): LadderRow[] {
  const base = figures.get(BASELINE);
  const talkBase = rungs.find(({ name }) => name === BASELINE)!.talk!;
  return rungs
    .filter(({ name, pod }) => !pod || figures.has(name))
    .map(({ name, title, talk, note, isControl }) => {
      const { received, sent, idleMegabytes } = talk ?? {};
      const measured = figures.get(name);
      return {
        name,
        title,
        talk,
        ...(note !== undefined && { note }),
        ...(isControl && { isControl }),
        measured: measured && { ...measured, ...(base && { ratios: ratiosOf(measured, base) }) },
        talkRatios: {
          ...(received !== undefined && { received: received / talkBase.received! }),
          ...(sent !== undefined && { sent: sent / talkBase.sent! }),
          ...(idleMegabytes !== undefined && { idle: idleMegabytes / talkBase.idleMegabytes! }),
        },
      };
    });
}

function ratiosOf(rung: Figures, base: Figures) {
  return {
    received: rung.received / rung.seconds / (base.received / base.seconds),
    sent: rung.sentPerSecond / base.sentPerSecond,
    idle: rung.idleMegabytes / base.idleMegabytes,
  };
}

const MIN_OF_BASELINE = 100;
const MIN_OF_END_STATE = 20;

/** A sentence for each promised ratio that crier misses. Rungs that did not run are skipped. */
export function shortfallsOf(rows: readonly LadderRow[]): string[] {
  const of = (name: string) => rows.find((row) => row.name === name)?.measured;
  const [base, end, crier] = [of(BASELINE), of(END_STATE), of(CRIER)];
  const shortfalls: string[] = [];
  const expect = (least: number, other: Figures | undefined, what: string) => {
    if (!crier || !other || crier.sentPerSecond >= least * other.sentPerSecond) return;
    const ratio = (crier.sentPerSecond / other.sentPerSecond).toFixed(1);
    shortfalls.push(`crier sent ${ratio} times the messages of ${what}, expected at least ${least} times`);
  };
  expect(MIN_OF_BASELINE, base, 'the baseline');
  expect(MIN_OF_END_STATE, end, "the talk's end state");
  if (crier && end && crier.idleMegabytes >= end.idleMegabytes) {
    const [plateau, other] = [crier, end].map(({ idleMegabytes }) => `${idleMegabytes.toFixed(0)} MB`);
    shortfalls.push(`crier's idle plateau is ${plateau}, expected less than the ${other} of the talk's end state`);
  }
  return shortfalls;
}
