import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SetupError } from '../../base/errors.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import { whenReplied } from './reply-end.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The setting that the port comes from, for the error; the host comes from its `..._HOST`. */
  readonly variable: 'PORT' | 'ADMIN_PORT';
  readonly names: SettingNames;
}

/**
 * Connections that the kernel queues until the event loop accepts them. The kernel's own limit (net.core.somaxconn) may be lower.
 * Connection storms follow the drain of a pod or the failure of a load balancer. The kernel of a client that finds the queue full
 * retries after 1, 3 and 7 s.
 */
const MAX_WAITING_CONNECTIONS = 4096;

/** Slow headers and bodies must not hold sockets: they are closed after 15 s and 20 s at most. The limits end for a socket at its upgrade. */
export const SLOW_CLIENT_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
};

/** Interval in ms at which a closing server closes idle connections. */
const IDLE_CHECK_INTERVAL_MS = 50;

/** Codes of errors that only another host fixes. */
const HOST_ERRORS = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL', 'EAFNOSUPPORT']);

/**
 * Resolves with the port once the server listens.
 * @throws SetupError naming the variable when the host or the port cannot be listened on.
 */
export async function listen(server: Server, { host, port, variable, names }: ListenOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new SetupError(refusalOf(error, { host, port, variable, names })));
    });
    // The processes of a pod share PORT; each has an admin port of its own.
    const exclusive = variable === 'ADMIN_PORT';
    server.listen({ port, host, backlog: MAX_WAITING_CONNECTIONS, exclusive }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function refusalOf({ code, message }: NodeJS.ErrnoException, { host, port, variable, names }: ListenOptions): string {
  const name = names[variable];
  const fix = `set ${name} to another one, or to 0 for any free one`;
  if (code === 'EADDRINUSE')
    return `${name}: port ${port} on ${host} is in use; end the program that listens there, or ${fix}`;
  if (code === 'EACCES') return `${name}: this user may not listen on port ${port}; ${fix}`;
  if (!HOST_ERRORS.has(code ?? '')) return `${name}: port ${port} on ${host} cannot be listened on: ${message}`;
  return `${names[variable === 'PORT' ? 'HOST' : 'ADMIN_HOST']}: expected an address of this machine, got ${JSON.stringify(host)} (${message})`;
}

/**
 * Closes connections beyond `max` at once. At its limit of open files the process could accept none, also none of a probe on another port.
 * @param onRefused called for each of them
 */
export function limitSockets(server: Server, max: number, onRefused: () => void): void {
  let open = 0;
  const onClose = () => open--;
  server.on('connection', (socket) => {
    open++;
    socket.on('close', onClose);
    if (open <= max) return;
    onRefused();
    socket.destroy();
  });
}

/**
 * Once `draining` is aborted, each reply whose headers are not sent yet closes its connection, also the reply to an earlier request.
 * Otherwise a client or a load balancer would send its next request over a connection that `endServer` is about to close, and the request
 * would fail with a reset.
 */
export function closeAfterReplies(server: Server, draining: AbortSignal): void {
  const pending = new Set<ServerResponse>();
  const close = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  };
  server.prependListener('request', (request, response) => {
    if (draining.aborted) return close(response);
    pending.add(response);
    whenReplied(request, response, () => pending.delete(response));
  });
  draining.addEventListener('abort', () => pending.forEach(close), { once: true });
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
