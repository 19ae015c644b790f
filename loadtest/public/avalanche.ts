import { cpuMs } from '../processes/process-usage.ts';
import type { StoryStack } from '../story/stack.ts';
import type { FleetReport } from './fleet.ts';
import type { ClientKind } from './fleet-client.ts';
import type { Delays } from './reconnect-delays.ts';
import { Stage } from './stage.ts';

export interface AvalanchePlan {
  readonly clients: number;
  readonly kind: ClientKind;
  readonly delays: Delays;
  readonly spreadMs: number;
}

export interface AvalancheResult extends AvalanchePlan {
  readonly deployed: 'gateway' | 'worker';
  readonly report: FleetReport;
  /** CPU time of the gateway that the clients return to, from the signal until all were back; 0 for a worker. */
  readonly podCpuMs: number;
  readonly clientCpuMs: number;
}

const INTERVAL_MS = 250;
const EVENTS = 400;
/** Longest time from the signal until all clients must be back, beside the spread of the drain. */
const RETURN_MS = 30_000;
const QUIET_MS = 3000;

/** AnyCable's avalanche: what clients notice of the replacement of a gateway, and then of a worker. */
export async function avalanche(
  plan: AvalanchePlan,
  stack: StoryStack,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<AvalancheResult[]> {
  const { clients, kind, delays, spreadMs } = plan;
  const stage = new Stage(
    stack,
    (line) => say(`avalanche, ${kind} clients, ${delays} delays, ${spreadMs} ms: ${line}`),
    signal,
  );
  const settle = async () => {
    await stage.calm();
    await stage.until('the last events', 10_000, ({ events, deliveries }) => deliveries >= events * clients);
    return stage.report();
  };
  try {
    await stage.open();
    const environment = { DRAIN_SPREAD_MS: String(spreadMs), SHUTDOWN_TIMEOUT_MS: String(spreadMs + RETURN_MS) };
    const worker = await stage.startPod('worker', 1);
    const gateway = await stage.startPod('gateway', 0, environment);
    await stage.connect({ port: gateway.port, ...plan, minOfflineMs: 0 });
    const next = await stage.startPod('gateway', 0, environment);

    await stage.begin({ events: EVENTS, intervalMs: INTERVAL_MS, cutEveryMs: 0 });
    await stage.target(next.port);
    const [podCpuBefore, clientCpuBefore] = [cpuMs(next.server.pid), stage.clientCpuMs];
    process.kill(gateway.server.pid, 'SIGTERM');
    await stage.until(
      'clients return',
      spreadMs + RETURN_MS,
      ({ connected, disconnects }) => disconnects >= clients && connected === clients,
    );
    const podCpuMs = cpuMs(next.server.pid) - podCpuBefore;
    const clientCpuMs = stage.clientCpuMs - clientCpuBefore;
    const ofGateway = await settle();

    await stage.begin({ events: EVENTS, intervalMs: INTERVAL_MS, cutEveryMs: 0 });
    await stage.startPod('worker', 2);
    process.kill(worker.server.pid, 'SIGTERM');
    let isEnded = false;
    void worker.server.ended.then(() => (isEnded = true));
    await stage.until('the worker ends', RETURN_MS, () => isEnded);
    await stage.until('events after the deploy', QUIET_MS);
    const ofWorker = await settle();
    return [
      { ...plan, deployed: 'gateway', report: ofGateway, podCpuMs, clientCpuMs },
      { ...plan, deployed: 'worker', report: ofWorker, podCpuMs: 0, clientCpuMs: 0 },
    ];
  } finally {
    await stage.close();
  }
}
