import type { FleetReport } from './clients/fleet-calls.ts';
import type { LatencySummary } from './latency.ts';
import type { PodReport } from './pods/scenario-pods.ts';
import { promisesEverything } from './scenario.ts';
import type { Scenario, ScenarioName } from './scenario.ts';

/** Above this share of its core the client may be what was measured. */
const BUSY_PERCENT = 80;
/** Above this share of time spent runnable without a core, the machine slowed the process down. */
const WAITING_PERCENT = 20;
/** Event-loop lag of the client above which latencies are those of the client. */
const LATE_MS = 50;

export interface DeployReport {
  /** Time until the new pod listens and the consumer group is stable. */
  readonly replacementMs: number;
  /** Time from SIGTERM to the exit of the old pod. */
  readonly drainMs: number;
  readonly ending: number | string;
}

/** Settings with a flag. */
export interface ScenarioSettings {
  readonly seed: number;
  readonly clients: number;
  readonly stock: number;
  readonly slow: number;
  readonly subscriptionsPerClient: number;
  readonly auctions: number;
  readonly zipfExponent: number;
  readonly recordsPerSecond: number;
  readonly seconds: number;
  readonly churnSeconds: number;
}

export interface ScenarioResult {
  readonly scenario: ScenarioName;
  readonly settings: ScenarioSettings;
  /** Records written in the window; `acknowledged` is the time from their schedule to Kafka's acknowledgement. */
  readonly records: number;
  readonly recordMegabytes: number;
  readonly acknowledged: LatencySummary;
  readonly fleet: FleetReport;
  readonly pods: readonly PodReport[];
  /** Time until every client had connected and subscribed. */
  readonly connectMs: number;
  readonly deploy?: DeployReport;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** One line per fault. A fault fails the run. */
export function faultsOf(
  scenario: Scenario,
  settings: ScenarioSettings,
  fleet: FleetReport,
  deploy: DeployReport | undefined,
): string[] {
  const hasPromise = promisesEverything(scenario);
  const closes = Object.entries(fleet.closes).filter(([code]) => !(scenario.hasDeploy && code === '1001'));
  const faults: [number, string][] = [
    [fleet.lost, `deliveries lost while the client was connected, of ${fleet.expected} expected`],
    [hasPromise ? fleet.missed : 0, 'deliveries missed, and no client had a reason to be away'],
    // Kafka delivers at least once: a rebalance may repeat records.
    [scenario.hasDeploy ? 0 : fleet.duplicates, 'duplicates'],
    [scenario.hasDeploy ? 0 : fleet.reordered, 'deliveries after a later one of their auction'],
    [fleet.corrupt, 'results that are not what was written'],
    [fleet.unrequested, 'unrequested results'],
    [fleet.unpublished, 'records that never reached Redis'],
    [fleet.failureCount, `unexpected messages of the server:  ${fleet.failures.join('; ')}`],
    [settings.clients - fleet.ready, 'clients that read were not connected at the end'],
    ...closes.map(([code, count]): [number, string] => [
      count,
      `connections of normal clients were closed with ${code}`,
    ]),
  ];
  const lines = faults.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  if (fleet.delivered === 0) lines.push('nothing was delivered');
  if (deploy && deploy.ending !== 0) lines.push(`the drained pod ended with ${deploy.ending}`);
  return lines;
}

/** One line per reason to doubt that the figures are the server's. */
export function warningsOf({ cpuPercent, waitPercent, lagP99Ms }: FleetReport, pods: readonly PodReport[]): string[] {
  const warnings: string[] = [];
  const percent = (share: number) => `${share.toFixed(0)} %`;
  if (cpuPercent > BUSY_PERCENT) {
    warnings.push(
      `the client used ${percent(cpuPercent)} of its core: the client, not the server, may be what was measured`,
    );
  }
  if (waitPercent > WAITING_PERCENT) {
    warnings.push(`the client waited for a core ${percent(waitPercent)} of the time: other programs used it`);
  }
  if (lagP99Ms > LATE_MS) {
    warnings.push(`the client's event loop was ${lagP99Ms.toFixed(0)} ms late (p99), which is in the latencies`);
  }
  for (const pod of pods.filter((pod) => pod.waitPercent > WAITING_PERCENT)) {
    warnings.push(`${pod.name} waited for a core ${percent(pod.waitPercent)} of the time: other programs used it`);
  }
  return warnings;
}
