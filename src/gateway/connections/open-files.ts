import { readFileSync } from 'node:fs';

/** Of the files that a process may open, those that no socket of a client takes: a tenth, from 100 to 1,000, and no less than backends need. */
const RESERVED_SHARE = 0.1;
const MIN_RESERVED = 100;
const MAX_RESERVED = 1000;
/** A low limit of open files leaves clients so much all the same. */
const MIN_SHARE_OF_CLIENTS = 0.5;
/** Of the sockets of clients. The others are for requests over HTTP, and for handshakes until they are refused. */
const CONNECTIONS_SHARE = 0.9;

/** What the limit of open files leaves for clients. */
export interface ClientFiles {
  /** Sockets; Infinity: the limit is not known. */
  readonly sockets: number;
  /** Of these, WebSockets and streams. */
  readonly connections: number;
}

/**
 * Beside its clients a process needs files for Kafka, Redis, backends, its modules and the probes of its admin port.
 * @param backendSockets most sockets to backends
 */
export function clientFiles(backendSockets: number, maxFiles = maxOpenFiles()): ClientFiles {
  const share = Math.min(Math.ceil(maxFiles * RESERVED_SHARE), MAX_RESERVED);
  const reserved = Math.max(share, MIN_RESERVED + backendSockets);
  const sockets = Math.max(Math.ceil(maxFiles * MIN_SHARE_OF_CLIENTS), maxFiles - reserved);
  return { sockets, connections: Math.ceil(sockets * CONNECTIONS_SHARE) };
}

/** The soft limit, which Node raises to the hard one at its start. Known on Linux only. */
function maxOpenFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
