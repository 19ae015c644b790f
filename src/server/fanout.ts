import { topicOf } from '../bus/channel.ts';
import type { Receiver } from '../bus/flow/receiver.ts';
import { shareOf } from '../config/processes.ts';
import type { Handshakes } from '../gateway/connections/handshakes.ts';
import { GAP_REASONS } from '../gateway/fanout/channel-services.ts';
import { Hub } from '../gateway/fanout/hub.ts';
import { Writer } from '../gateway/fanout/outbox/writer.ts';
import { CursorSecret } from '../gateway/fanout/resume/cursor-secret.ts';
import type { Executions } from '../graph/execution/executions.ts';
import type { Arrivals } from './arrivals.ts';
import { countDeliveries, deliveryObservations } from './delivery-metrics.ts';
import type { GatewayGraphs } from './gateway-graphs.ts';
import { createAudit } from './graph-runtime.ts';
import type { RoleServices } from './services.ts';

export function createWriter({ config, tunables, metrics }: RoleServices): Writer {
  const writer = new Writer({
    maxQueueBytes: config.MAX_QUEUE_BYTES,
    maxPodQueueBytes: shareOf(config.MAX_POD_QUEUE_BYTES, config),
    hasBatching: config.WRITE_BATCHING,
    observations: deliveryObservations(metrics),
  });
  countDeliveries(writer, metrics);
  tunables.bind('MAX_QUEUE_BYTES', (bytes) => (writer.maxQueueBytes = bytes));
  tunables.bind('MAX_POD_QUEUE_BYTES', (bytes) => (writer.maxPodQueueBytes = shareOf(bytes, config)));
  metrics.gauge('crier_queue_bytes', 'Bytes of messages that wait for slow sockets.', () => writer.backpressuredBytes);
  metrics.gauge('crier_queue_bytes_max', 'Bytes of the largest of these queues.', () => writer.largestQueueBytes);
  return writer;
}

/** Components that the hub uses. */
interface HubParts {
  readonly graphs: GatewayGraphs;
  readonly executions: Executions;
  readonly writer: Writer;
  readonly receiver: Receiver | undefined;
  readonly arrivals: Arrivals;
  readonly handshakes: Handshakes;
}

/** Resolves when the secret of cursors is known, or the bus is away. */
export async function openHub(services: RoleServices, parts: HubParts): Promise<Hub> {
  const { graphs, executions, writer, receiver, arrivals, handshakes } = parts;
  const { bus, config, tunables, log, metrics, register, tracing } = services;
  const traces = tracing && (await import('./traces.ts')).createEventTraces(tracing, config, writer);
  const secret = register(new CursorSecret({ configured: config.CURSOR_SECRET, bus }));
  await secret.start();
  // A rate needs a value before the first gap.
  for (const reason of GAP_REASONS) metrics.gaps.inc({ reason }, 0);
  let maxExecutions = 0;
  tunables.bind('MAX_EXECUTIONS', (executions) => (maxExecutions = shareOf(executions, config)));
  const hub = new Hub({
    bus,
    executor: graphs.runtime,
    executions,
    audit: createAudit(services, graphs.runtime),
    cursors: () => secret.cursors,
    log,
    observer: {
      onEvent: (isOfWorker) => {
        arrivals.add(isOfWorker);
        metrics.events.inc();
      },
      onUnrecognisedMessage: () => metrics.unrecognisedMessages.inc(),
      onStale: () => metrics.staleMessages.inc(),
      onGap: (operations, reason) => metrics.gaps.inc({ reason }, operations),
      onResume: (outcome) => metrics.resumes.inc({ outcome }),
    },
    writer,
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    maxExecutions: () => maxExecutions,
    maxMessageBytes: config.MAX_RECORD_BYTES,
    flow: receiver && {
      intake: (channel, partition) => receiver.intake(topicOf(channel, config.CHANNEL_PREFIX), partition),
      load: () => receiver.load(),
    },
    traces,
    isStateComplete: graphs.isStateComplete,
    connecting: handshakes,
  });
  observeHub(hub, services);
  return hub;
}

function observeHub(hub: Hub, { metrics }: RoleServices): void {
  metrics.gauge(
    'crier_executions_waiting',
    'Executions of events that wait because MAX_EXECUTIONS are in flight.',
    () => hub.executions.waiting,
  );
  metrics.gauge('crier_channels', 'Channels this pod is subscribed to.', () => hub.channelCount);
  metrics.gauge('crier_held_bytes', 'Bytes of events that wait for replays and backfills.', () => hub.heldBytes);
}
