import { median } from '../median.ts';
import type { ClientReconciliation } from './client/client-calls.ts';
import type { HeapFigures, PhaseName, StorySample } from './result.ts';

/** The maximum of each phase. Plateau: the median of the phase's second half, after connecting and warming up. */
export function heapFigures(samples: readonly StorySample[]): HeapFigures {
  const of = (phase: PhaseName) => samples.filter((s) => s.phase === phase).map(({ heapUsedBytes }) => heapUsedBytes);
  const plateau = (values: readonly number[]) => median(values.slice(values.length >> 1));
  return {
    bareMax: largest(of('bare')),
    idleMax: largest(of('idle')),
    idlePlateau: plateau(of('idle')),
    floodMax: largest(of('flood')),
    floodPlateau: plateau(of('flood')),
  };
}

/** Garbage collection in percent of these samples' CPU time. */
export function gcPercent(samples: readonly StorySample[]): number {
  const gcMs = samples.reduce((sum, { gcMs }) => sum + Object.values(gcMs).reduce((a, b) => a + b, 0), 0);
  const cpuMs = samples.reduce((sum, sample) => sum + sample.cpuMs, 0);
  return cpuMs === 0 ? 0 : (gcMs / cpuMs) * 100;
}

interface FloodTotals {
  /** Copies given to the writers. */
  readonly written: number;
  /** Copies in the topic. */
  readonly produced: number;
  readonly counted: ClientReconciliation;
}

/** One line per fault, losses first. */
export function faultsOf({ written, produced, counted }: FloodTotals): string[] {
  const { expected, delivered, unequalSockets, example, wrongSizes, closed } = counted;
  const faults: string[] = [];
  if (example) {
    const kind = delivered < expected ? 'lost' : delivered > expected ? 'duplicated' : 'lost and duplicated';
    faults.push(
      `${kind}: of ${produced} records × sockets = ${expected} deliveries ${delivered} arrived; ${unequalSockets} sockets differ, ` +
        `socket ${example.socket} received ${example.delivered}`,
    );
  }
  if (counted.outOfOrder > 0)
    faults.push(`${counted.outOfOrder} messages arrived after a later one of their partition`);
  if (written !== produced) faults.push(`the writers wrote ${written} records, the topic has ${produced}`);
  if (wrongSizes > 0) faults.push(`${wrongSizes} messages differ in length from a result`);
  for (const [code, sockets] of Object.entries(closed)) faults.push(`${sockets} sockets were closed with ${code}`);
  return faults;
}

function largest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}
