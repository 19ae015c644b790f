import type { Server as HttpServer } from 'node:http';
import { finishMs } from '../config/shutdown-times.ts';
import type { WebSocketEndpoint } from '../gateway/websocket/websocket-endpoint.ts';
import { PRODUCE_TIMEOUT_MS } from '../kafka/produce-outcome.ts';
import type { RoleServices } from './services.ts';

/** Longest wait for mutations and close frames: a second more than a published record takes at most, so that its mutation is answered. */
const DRAIN_TIMEOUT_MS = PRODUCE_TIMEOUT_MS + 1000;

/** Longest wait, in ms, for mutations that are under way, and for close frames of clients. */
export function drainTimeoutMs(config: RoleServices['config']): number {
  return Math.min(DRAIN_TIMEOUT_MS, finishMs(config) * 0.4);
}

export async function drainGateway(
  gateway: WebSocketEndpoint,
  { listening }: HttpServer,
  { log }: RoleServices,
): Promise<void> {
  const sockets = gateway.connections.size;
  const startedAt = performance.now();
  const summary = await gateway.close();
  if (listening)
    log.info({ sockets, ...summary, durationMs: Math.round(performance.now() - startedAt) }, 'sockets drained');
}
