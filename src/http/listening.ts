import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SetupError } from '../errors.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The setting that the port comes from, for the error. */
  readonly variable: string;
}

/**
 * Connections that wait until the event loop takes them, at most; the kernel's own limit (net.core.somaxconn) may be less. Clients come in
 * crowds: those of a pod that is drained, or all of them after a load balancer. Whom the queue does not take knocks again after 1, 3, 7 s.
 */
const MAX_WAITING_CONNECTIONS = 4096;

/** How often a server that is closing looks for connections whose last answer has left, in ms. */
const IDLE_CHECK_INTERVAL_MS = 50;

/**
 * Resolves with the port once the server listens.
 * @throws SetupError naming the variable when the port cannot be listened on.
 */
export async function listen(server: Server, { host, port, variable }: ListenOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${error.message})`;
      reject(new SetupError(`${variable}: port ${port} on ${host} ${reason}; name another one, or 0 for any free one`));
    });
    server.listen({ port, host, backlog: MAX_WAITING_CONNECTIONS }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Stops listening and lets answers under way end, for at most `graceMs`; then their connections are cut. */
export function endServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS);
    const grace = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(grace);
      resolve();
    });
  });
}
