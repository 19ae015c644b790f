import type { OriginRefusal } from '../config/addresses/origin.ts';
import type { RequestLimit } from '../gateway/http/request-admission.ts';
import { CLOSE_CODES, closeLabel } from '../gateway/connections/close-codes.ts';
import { connectionCounts } from '../gateway/connections/connection-metrics.ts';
import { LogWindow } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import type { MetricsRegistry } from '../ops/metrics/metrics-registry.ts';
import type { RefusalReason } from '../gateway/websocket/websocket-endpoint.ts';

const LOG_WINDOW_MS = 10_000;

/** Why a handshake or a request is refused, as a metric label. */
export type Refused =
  RefusalReason | RequestLimit | 'reservations' | 'stream_rate' | 'body' | 'callback' | 'callback_checks';

/** What raises each limit; undefined: nothing. A drain is planned, and origins and hosts have lines of their own. */
const SETTINGS: Readonly<Record<Exclude<Refused, OriginRefusal['reason'] | 'draining' | 'path'>, string | undefined>> =
  {
    address: 'MAX_CONNECTIONS_PER_ADDRESS',
    address_requests: 'MAX_REQUESTS_IN_FLIGHT',
    address_request_rate: 'MAX_REQUESTS_PER_SECOND_PER_ADDRESS',
    body: 'MAX_MESSAGE_BYTES',
    callback: 'CALLBACK_URLS',
    callback_checks: undefined,
    connections: 'MAX_CONNECTIONS',
    handshake_rate: 'MAX_HANDSHAKES_PER_SECOND',
    headers: undefined,
    loop_lag: 'DISABLE=loop-lag',
    memory: 'MAX_HEAP_PERCENT',
    open_files: 'ulimit -n',
    request_memory: 'MAX_HEAP_PERCENT',
    requests: 'MAX_REQUESTS_IN_FLIGHT',
    reservations: 'INIT_TIMEOUT_MS',
    stream_rate: 'MAX_MESSAGES_PER_SECOND',
    user: 'MAX_CONNECTIONS_PER_USER',
    user_requests: 'MAX_REQUESTS_IN_FLIGHT',
    user_request_rate: 'MAX_REQUESTS_IN_FLIGHT',
  };

/** Codes of closes that are planned, or that have lines of their own. */
const QUIET_CODES: ReadonlySet<number> = new Set([
  CLOSE_CODES.goingAway,
  CLOSE_CODES.serviceRestart,
  CLOSE_CODES.forbidden,
]);

/** Counts what limits refuse and what crier closes, and logs it: one line within 10 s for each kind. */
export class RefusedClients {
  readonly #logger: Logger;
  readonly #counts: ReturnType<typeof connectionCounts>;
  readonly #window = new LogWindow(LOG_WINDOW_MS);

  constructor({ log, metrics }: { readonly log: Logger; readonly metrics: MetricsRegistry }) {
    this.#logger = log;
    this.#counts = connectionCounts(metrics);
  }

  readonly onOpened = (): void => this.#counts.opened.inc();

  readonly onRefused = (reason: Refused): void => {
    this.#counts.refused.inc({ reason });
    if (reason in SETTINGS) this.#log(reason, { reason, setting: SETTINGS[reason as keyof typeof SETTINGS] }, REFUSED);
  };

  /** @param reason for the client */
  readonly onRefusedOperation = (reason: string, connection: string | undefined): void =>
    this.#log('operation', { reason, connection }, 'an operation was refused by a limit');

  /** @param reason why crier closed it; '': its client did, or the connection was lost */
  readonly onClosed = (code: number, reason: string, connection: string | undefined): void => {
    this.#counts.closed.inc({ code: closeLabel(code) });
    if (reason !== '' && !QUIET_CODES.has(code)) this.#log(`${code}`, { code, reason, connection }, CLOSED);
  };

  #log(kind: string, facts: object, message: string): void {
    this.#window.run(kind, (suppressed) => this.#logger.info({ ...facts, suppressed }, message));
  }
}

const REFUSED = 'a client was refused by a limit';
const CLOSED = 'a connection was closed for what its client sent or did not read';
