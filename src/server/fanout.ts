import { topicOf } from '../bus/channel.ts';
import type { Receiver } from '../bus/flow/receiver.ts';
import { shareOf } from '../config/processes.ts';
import type { Handshakes } from '../gateway/connections/handshakes.ts';
import type { ChannelObserver } from '../gateway/fanout/channel-services.ts';
import { deliveryObservations, observeHub, observeWriter } from '../gateway/fanout/fanout-metrics.ts';
import { maxExecutionsOf, tuneWriter } from '../gateway/fanout/fanout-tunables.ts';
import { Hub } from '../gateway/fanout/hub.ts';
import { Writer } from '../gateway/fanout/outbox/writer.ts';
import { CursorSecret } from '../gateway/fanout/resume/cursor-secret.ts';
import type { Executions } from '../graph/execution/executions.ts';
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
  observeWriter(metrics, writer);
  tuneWriter(tunables, writer, config);
  return writer;
}

/** Components that the hub uses. */
interface HubParts {
  readonly graphs: GatewayGraphs;
  readonly executions: Executions;
  readonly writer: Writer;
  readonly receiver: Receiver | undefined;
  readonly channels: ChannelObserver;
  readonly handshakes: Handshakes;
}

/** Resolves when the secret of cursors is known, or the bus is away. */
export async function openHub(services: RoleServices, parts: HubParts): Promise<Hub> {
  const { graphs, executions, writer, receiver, channels, handshakes } = parts;
  const { bus, config, tunables, log, metrics, register, tracing } = services;
  const traces = tracing && (await import('./traces.ts')).createEventTraces(tracing, config, writer);
  const secret = register(new CursorSecret(bus));
  await secret.start();
  const hub = new Hub({
    bus,
    executor: graphs.runtime,
    executions,
    audit: createAudit(services, graphs.runtime),
    secret,
    log,
    names: config.names,
    observer: channels,
    writer,
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    maxExecutions: maxExecutionsOf(tunables, config),
    maxMessageBytes: config.MAX_RECORD_BYTES,
    flow: receiver && {
      intake: (channel, partition) => receiver.intake(topicOf(channel, config.CHANNEL_PREFIX), partition),
      load: () => receiver.load(),
    },
    traces,
    isStateComplete: graphs.isStateComplete,
    connecting: handshakes,
  });
  observeHub(metrics, hub);
  return hub;
}
