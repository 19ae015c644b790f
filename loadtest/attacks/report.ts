import type { Cells } from '../table.ts';
import type { Attack } from './attack.ts';
import type { Phase, Trial } from './trial.ts';

/** Bounds of the build under test. */
const MAX_HEALTHZ_P99_MS = 100;
const MAX_DELIVERY_RATIO = 1.5;
const MAX_HELD_BYTES = 1024 * 1024;

export function attackTable(trials: readonly Trial[]): Cells[] {
  const headings = [
    'attack',
    'build',
    'phase',
    'healthz p50',
    'p99',
    'max, ms',
    'delivery p50',
    'p99',
    'max, ms',
    'cpu',
    'max RSS, MB',
    'kept, MB',
  ];
  return [headings, ...trials.flatMap(rowsOf)];
}

function rowsOf(trial: Trial): Cells[] {
  const row = (phase: string, { healthz, delivery, cpuShare, maxResidentBytes }: Phase, keptBytes: number): Cells => [
    trial.attack,
    trial.build,
    phase,
    ...[healthz, delivery].flatMap(({ p50, p99, max }) => [p50, p99, max].map((value) => value.toFixed(1))),
    `${Math.round(cpuShare * 100)} %`,
    megabytes(maxResidentBytes),
    megabytes(keptBytes),
  ];
  return [
    row('before', trial.before, trial.keptBeforeBytes),
    row('during', trial.during, trial.keptDuringBytes),
    row('after', trial.after, trial.keptAfterBytes),
  ];
}

export function answersTable(trials: readonly Trial[]): Cells[] {
  const counts = (values: Readonly<Record<string, number>>) =>
    Object.entries(values)
      .map(([key, count]) => `${count} ${key}`)
      .join(', ') || 'none';
  return [
    ['attack', 'build', 'operations sent', 'kept for a socket, KB', 'healthy closed', 'closes', 'errors'],
    ...trials.map((trial) => [
      trial.attack,
      trial.build,
      String(trial.answers.sent),
      (heldBytes(trial) / 1024).toFixed(0),
      String(trial.healthyCloses),
      counts(trial.answers.closes),
      counts(trial.answers.errors),
    ]),
  ];
}

/** One line per bound that a trial exceeds. */
export function findingsOf(trial: Trial, { isAboutMemory }: Pick<Attack, 'isAboutMemory'>): string[] {
  const { before, during, after, attack, build, healthyCloses } = trial;
  const findings: string[] = [];
  const name = `${attack}, ${build}`;
  for (const [phase, { healthz, delivery }] of Object.entries({ during, after })) {
    if (healthz.p99 > MAX_HEALTHZ_P99_MS)
      findings.push(`${name}, ${phase}: /healthz p99 ${healthz.p99.toFixed(0)} ms, not ${MAX_HEALTHZ_P99_MS}`);
    const ratio = delivery.p99 / before.delivery.p99;
    if (!(ratio <= MAX_DELIVERY_RATIO))
      findings.push(`${name}, ${phase}: delivery p99 ${ratio.toFixed(2)} times that before, not ${MAX_DELIVERY_RATIO}`);
  }
  if (isAboutMemory && heldBytes(trial) > MAX_HELD_BYTES)
    findings.push(
      `${name}: ${(heldBytes(trial) / 1024).toFixed(0)} KB kept for a socket, not ${MAX_HELD_BYTES / 1024}`,
    );
  if (healthyCloses > 0) findings.push(`${name}: ${healthyCloses} healthy sockets were closed`);
  return findings;
}

/** Memory freed with the attacker's sockets, per socket. Heap that stays did not belong to them. */
function heldBytes({ keptDuringBytes, keptAfterBytes, attackerSockets }: Trial): number {
  return Math.max(0, keptDuringBytes - keptAfterBytes) / attackerSockets;
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
