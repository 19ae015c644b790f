import { cpuMs } from '../processes/process-usage.ts';
import type { StoryStack } from '../story/stack.ts';
import type { FleetReport } from './fleet.ts';
import type { ClientKind } from './fleet-client.ts';
import type { Delays } from './reconnect-delays.ts';
import { Stage } from './stage.ts';

export interface JitterPlan {
  readonly clients: number;
  readonly kind: ClientKind;
  readonly delays: Delays;
}

export interface JitterResult extends JitterPlan {
  readonly report: FleetReport;
  readonly podCpuMs: number;
  readonly podResidentMb: number;
  readonly podLagP99Ms: number;
}

export const JITTER_EVENTS = 120;
const INTERVAL_MS = 500;
const CUT_EVERY_MS = 15_000;
const MIN_OFFLINE_MS = 2000;
/** After the last event clients are cut for this long, as before. */
const TAIL_MS = 5000;
const SETTLE_MS = 30_000;

/** AnyCable's jitter scenario: TCP connections end about every 15 s without a close frame while one stream has two messages a second. */
export async function jitter(
  plan: JitterPlan,
  stack: StoryStack,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<JitterResult> {
  const { clients, kind, delays } = plan;
  const stage = new Stage(stack, (line) => say(`jitter, ${kind} clients, ${delays} delays: ${line}`), signal);
  try {
    await stage.open();
    const { port, server } = await stage.startPod('all', 1);
    await stage.connect({ port, ...plan, minOfflineMs: MIN_OFFLINE_MS });
    await server.reset();
    const cpuBefore = cpuMs(server.pid);
    await stage.begin({ events: JITTER_EVENTS, intervalMs: INTERVAL_MS, cutEveryMs: CUT_EVERY_MS });
    await stage.until('messages', JITTER_EVENTS * INTERVAL_MS + TAIL_MS);
    await stage.calm();
    await stage.until(
      'the last clients return',
      SETTLE_MS,
      ({ connected, events, deliveries }) => connected === clients && deliveries >= clients * events,
    );
    const report = await stage.report();
    const { residentBytes, lagP99Ms } = await server.report();
    const podCpuMs = cpuMs(server.pid) - cpuBefore;
    return { ...plan, report, podCpuMs, podResidentMb: residentBytes / 2 ** 20, podLagP99Ms: lagP99Ms };
  } finally {
    await stage.close();
  }
}
