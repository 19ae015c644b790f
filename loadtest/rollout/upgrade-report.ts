import type { FleetReport, ResumingReport } from '../market/clients/fleet-report.ts';
import type { Cells } from '../runner/table.ts';
import { ledgerFaults } from './ledger-faults.ts';
import type { Ending, Stage } from './upgrade.ts';

const GATEWAYS = 2;

export interface UpgradeResult {
  readonly stages: readonly Stage[];
  readonly endings: readonly Ending[];
  /** Messages that a gateway did not recognise. */
  readonly unrecognised: number;
  readonly fleet: FleetReport;
}

/** One line for each promise that was broken. */
export function upgradeFaults({ stages, endings, unrecognised, fleet }: UpgradeResult): string[] {
  const { resuming } = fleet;
  return [
    ...ledgerFaults(fleet),
    ...(unrecognised > 0 ? [`${unrecognised} messages that a gateway did not recognise`] : []),
    ...endings
      .filter((one) => one.ending !== 0)
      .map((one) => `the ${one.version} ${one.role} ended with ${one.ending} after ${one.seconds.toFixed(1)} s`),
    ...stages.flatMap((stage) => {
      const name = `${stage.worker} worker, ${stage.gateways} gateways`;
      const isHeard = stage.heardGateways >= GATEWAYS;
      return [
        ...(isHeard ? [] : [`${name}: the worker heard of ${stage.heardGateways} gateways`]),
        ...(stage.waitedSeconds > 0 ? [] : [`${name}: the worker did not wait for a stopped gateway`]),
      ];
    }),
    ...(resuming && resuming.complete < resuming.subscriptions
      ? [`${resuming.subscriptions - resuming.complete} subscriptions of @crier/client lack an event`]
      : []),
  ];
}

export function upgradeTables({ stages, endings, unrecognised, fleet }: UpgradeResult): Cells[][] {
  const { resuming } = fleet;
  const ofClients = (name: string, client: FleetReport | ResumingReport | undefined): Cells => [
    name,
    ...[client?.reconnects.count, client?.expected, client?.lost, client?.missed].map(String),
    ...[client?.gaps, client?.duplicates, client?.reordered].map(String),
  ];
  const codes = Object.entries(fleet.closes).map(([code, count]) => `${count} × ${code}`);
  return [
    [
      ['stage', 's', 'gateways heard by the worker', 'partitions waited for a gateway, s'],
      ...stages.map(({ worker, gateways, seconds, heardGateways, waitedSeconds }) => [
        `${worker} worker, ${gateways} gateways`,
        ...[seconds.toFixed(1), String(heardGateways), waitedSeconds.toFixed(1)],
      ]),
    ],
    [
      ['pod that was replaced', 'ended with', 'after, s'],
      ...endings.map((one) => [`${one.version} ${one.role}`, String(one.ending), one.seconds.toFixed(1)]),
    ],
    [
      [
        'clients',
        'reconnects',
        'expected',
        'lost',
        'missed between connections',
        'gaps told',
        'duplicates',
        'reordered',
      ],
      ofClients('@crier/client', resuming),
      ofClients('stock graphql-ws', fleet),
    ],
    [
      ['figure', 'value'],
      ['closes of stock clients', codes.join(', ') || 'none'],
      ['messages that a gateway did not recognise', String(unrecognised)],
    ],
  ];
}
