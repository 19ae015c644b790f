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
 * Connections that the kernel queues until the event loop accepts them. The kernel's own limit (net.core.somaxconn) may be lower.
 * Connection storms follow the drain of a pod or the failure of a load balancer. The kernel of a client that finds the queue full
 * retries after 1, 3 and 7 s.
 */
const MAX_WAITING_CONNECTIONS = 4096;

/** Interval in ms at which a closing server closes idle connections. */
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

/** Stops listening and waits at most `graceMs` for replies in flight; then closes their connections. */
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
