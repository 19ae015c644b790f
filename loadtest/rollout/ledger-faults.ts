import type { FleetReport } from '../market/clients/fleet-report.ts';

/** What the ledger finds. Stock clients may miss what is published between two of their connections. */
export function ledgerFaults(fleet: FleetReport): string[] {
  const { resuming } = fleet;
  const counts: readonly (readonly [number, string])[] = [
    [fleet.lost, 'events lost within a connection of a stock client'],
    [fleet.duplicates + fleet.reordered, 'duplicate or reordered events at stock clients'],
    [fleet.corrupt + fleet.unrequested, 'corrupt or unrequested events at stock clients'],
    [fleet.unpublished, 'records that never reached Redis'],
    [fleet.failureCount, `unexpected messages to stock clients: ${fleet.failures.join('; ')}`],
    [resuming ? resuming.lost + resuming.missed : 0, 'events lost at @crier/client'],
    [resuming ? resuming.duplicates + resuming.reordered : 0, 'duplicate or reordered events at @crier/client'],
    [resuming?.gaps ?? 0, 'gaps told to @crier/client'],
    [resuming?.failures.length ?? 0, `failures of @crier/client: ${resuming?.failures.join('; ')}`],
  ];
  const lines = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  if (resuming?.reconnects.count === 0) lines.push('no client of @crier/client reconnected');
  if (fleet.delivered === 0 || resuming?.delivered === 0) lines.push('nothing was delivered');
  return lines;
}
