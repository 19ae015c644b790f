import { median } from '../median.ts';
import type { Accounts } from './client/client-calls.ts';
import type { HeapFigures, PhaseName, StorySample } from './result.ts';

/** Largest of each phase; plateau: the median of the phase's second half, where connecting or warming up is over. */
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

/** Garbage collection as a share of the CPU time of these samples, in percent. */
export function gcPercent(samples: readonly StorySample[]): number {
  const gcMs = samples.reduce((sum, { gcMs }) => sum + Object.values(gcMs).reduce((a, b) => a + b, 0), 0);
  const cpuMs = samples.reduce((sum, sample) => sum + sample.cpuMs, 0);
  return cpuMs === 0 ? 0 : (gcMs / cpuMs) * 100;
}

interface Reconciliation {
  /** Copies handed to the writers. */
  readonly written: number;
  /** Copies in the topic. */
  readonly produced: number;
  readonly accounts: Accounts;
}

/** What must not be, one line each: losses first. */
export function faultsOf({ written, produced, accounts }: Reconciliation): string[] {
  const { expected, delivered, unequalSockets, example, wrongSizes, closed } = accounts;
  const faults: string[] = [];
  if (example) {
    const kind = delivered < expected ? 'lost' : delivered > expected ? 'duplicated' : 'lost and duplicated';
    faults.push(
      `${kind}: of ${produced} records × sockets = ${expected} deliveries ${delivered} came; ${unequalSockets} sockets differ, ` +
        `socket ${example.socket} got ${example.delivered}`,
    );
  }
  if (accounts.disordered > 0)
    faults.push(`${accounts.disordered} messages came after one that was written later to their partition`);
  if (written !== produced) faults.push(`the writers were given ${written} records, the topic has ${produced}`);
  if (wrongSizes > 0) faults.push(`${wrongSizes} messages of another length than a result has`);
  for (const [code, sockets] of Object.entries(closed)) faults.push(`${sockets} sockets were closed with ${code}`);
  return faults;
}

function largest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}
