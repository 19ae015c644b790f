import { randomBytes } from 'node:crypto';
import type { Writer } from '../gateway/fanout/outbox/writer.ts';
import { observeReceiver } from '../bus/bus-metrics.ts';
import { Receiver } from '../bus/flow/receiver.ts';
import { processName } from '../config/pod-name.ts';
import type { RoleServices } from './services.ts';

/** undefined: flow control is off. */
export function createReceiver(
  { config, metrics }: RoleServices,
  writer: Writer,
  connections: { readonly size: number },
): Receiver | undefined {
  if (config.FLOW_TARGET_MS === 0) return undefined;
  const receiver = new Receiver({
    gateway: `${processName(config).replace(/\s/g, '_')}-${randomBytes(3).toString('hex')}`,
    targetMs: config.FLOW_TARGET_MS,
    maxBytes: config.FLOW_TARGET_BYTES,
    maxExecuting: config.MAX_PENDING_EVENTS / 2,
    sockets: () => connections.size,
    fill: () => writer.fillOf(connections.size),
  });
  observeReceiver(metrics, receiver);
  return receiver;
}
