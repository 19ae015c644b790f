import { createClient } from '../../client/client.ts';
import type { EventClient, EventExtensions } from '../../client/client.ts';
import { claimsOf } from './claims.ts';
import { operationOf } from './operation.ts';
import type { Operation } from './operation.ts';

/** `idle`: no operation runs, so there is no socket. */
export type ConnectionState = 'idle' | 'connecting' | 'live' | 'reconnecting';

/** One operation, from its start to its end. */
export interface Run {
  readonly operation: Operation;
  events: number;
  /** Number of the last event before which others may have been missed. */
  missedBefore?: number;
  /** It was resumed after a reconnect. */
  resumed?: true;
}

export interface SessionOptions {
  /** Of the WebSocket. */
  readonly url: string;
  readonly onChange: () => void;
  /** Called with each result of a subscription. */
  readonly onEvent: (result: object) => void;
  /** The Headers editor has other headers than before. */
  readonly onHeaders: () => void;
}

/** What GraphiQL sends. */
interface Request {
  readonly query: string;
  readonly variables?: Record<string, unknown> | null;
  readonly operationName?: string | null;
}

interface Sink {
  next(result: object): void;
  error(errors: readonly object[]): void;
  complete(): void;
}

interface ActiveRun extends Run {
  /** Its message was sent at least once. */
  isSent: boolean;
  /** Ends it with an error. @param why a sentence */
  fail(why: string): void;
}

/** Everybody with a page of a pod that restarts may come at once: a browser is one of few. */
const LONGEST_WAIT_MS = 1500;
const FORBIDDEN = 4403;
const UNKNOWN_OUTCOME = 'The mutation may have been executed or not; it is not sent again.';

/** The operations of the page over one socket, which comes again when it is lost; subscriptions then resume after their last event. */
export class Session {
  state: ConnectionState = 'idle';
  /** Why the socket was closed last; '' once it is open again, and after a close that nobody minds. */
  reason = '';
  readonly #options: SessionOptions;
  readonly #runs = new Set<ActiveRun>();
  /** By payload. */
  readonly #onSend = new WeakMap<object, () => void>();
  /** The payload of `connection_init` is the content of the Headers editor. */
  #headers: string | undefined;
  #client: EventClient | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** The subscription that was started last and is not over. */
  get subscription(): Run | undefined {
    return [...this.#runs].findLast(({ operation }) => operation.kind === 'subscription');
  }

  /** Of the token in the Headers editor, which the connection began with. */
  get claims(): Readonly<Record<string, unknown>> {
    return claimsOf(this.#headers === undefined ? {} : (JSON.parse(this.#headers) as Record<string, unknown>));
  }

  /** GraphiQL's fetcher: what it returns is subscribed to at once. */
  readonly fetch = (request: Request, { headers = {} }: { headers?: Record<string, unknown> } = {}) => ({
    subscribe: (sink: Sink) => ({ unsubscribe: this.#start(request, this.#clientFor(headers), sink) }),
  });

  #start({ query, variables, operationName }: Request, client: EventClient, sink: Sink): () => void {
    const operation = operationOf(query, operationName, variables ?? {});
    const end = (how: () => void) => {
      if (!this.#runs.delete(run)) return;
      how();
      this.#options.onChange();
    };
    const run: ActiveRun = {
      operation,
      events: 0,
      isSent: false,
      fail: (why) => {
        const message = isSentMutation(run) ? `${why} ${UNKNOWN_OUTCOME}` : why;
        end(() => sink.error([{ message }]));
        leave();
      },
    };
    this.#runs.add(run);
    const payload = { query, variables: variables ?? null, operationName: operationName ?? null };
    this.#onSend.set(payload, () => (run.isSent = true));
    const leave = client.subscribe(payload, {
      next: (result) => {
        if (!this.#runs.has(run)) return;
        note(run, result.extensions);
        if (operation.kind === 'subscription') this.#options.onEvent(result);
        sink.next(result);
        this.#options.onChange();
      },
      error: (problem) => end(() => sink.error(readable(problem))),
      complete: () => end(() => sink.complete()),
    });
    this.#options.onChange();
    return () => {
      end(() => undefined);
      leave();
    };
  }

  #clientFor(headers: Record<string, unknown>): EventClient {
    const text = JSON.stringify(headers);
    if (this.#client && text === this.#headers) return this.#client;
    const former = this.#client;
    const client = createClient({
      url: this.#options.url,
      connectionParams: headers,
      // It sees each message that is sent.
      jsonMessageReplacer: (key, value: unknown) => {
        if (key === 'payload') this.#onSend.get(value as object)?.();
        return value;
      },
      retryWait: () => new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_WAIT_MS)),
      // A token that was refused once is refused again, until somebody writes another one into the Headers editor.
      shouldRetry: (problem) =>
        codeOf(problem) !== FORBIDDEN && (!(problem instanceof Error) || codeOf(problem) !== undefined),
    });
    const when =
      <Event>(handle: (event: Event) => void) =>
      (event: Event) => {
        if (client !== this.#client) return;
        handle(event);
        this.#options.onChange();
      };
    client.on(
      'connecting',
      when((isRetry: boolean) => (this.state = isRetry ? 'reconnecting' : 'connecting')),
    );
    client.on('connected', () => when(() => this.#set('live', ''))(undefined));
    client.on(
      'closed',
      when((event: unknown) => this.#onClosed(event)),
    );
    this.#client = client;
    this.#headers = text;
    if (former) {
      for (const run of [...this.#runs]) run.fail('The headers have changed, which has ended this operation.');
      void former.dispose();
      this.#options.onHeaders();
    }
    return client;
  }

  #onClosed(event: unknown): void {
    if (this.#runs.size === 0) return this.#set('idle', '');
    this.#set('reconnecting', closeText(event));
    for (const run of [...this.#runs]) if (isSentMutation(run)) run.fail('The connection was lost before the answer.');
    // An operation that must not be tried again receives its error in this turn.
    setTimeout(() => {
      if (this.#runs.size > 0 || this.state !== 'reconnecting') return;
      this.#set('idle', this.reason);
      this.#options.onChange();
    });
  }

  #set(state: ConnectionState, reason: string): void {
    this.state = state;
    this.reason = reason;
  }
}

function isSentMutation({ operation, isSent }: ActiveRun): boolean {
  return operation.kind === 'mutation' && isSent;
}

function note(run: Run, extensions: EventExtensions | undefined): void {
  run.events++;
  if (extensions?.resumed) run.resumed = true;
  if (extensions?.resumed === false || extensions?.gap) run.missedBefore = run.events;
}

/** Plain objects: of an Error the page would show the stack. */
function readable(problem: unknown): readonly object[] {
  if (Array.isArray(problem)) return problem as readonly object[];
  if (problem instanceof Error) return [{ message: problem.message }];
  const closed = closeText(problem);
  const isRefused = codeOf(problem) === FORBIDDEN;
  return [{ message: isRefused ? `${closed}; a token goes into the tab Headers: { "token": "…" }` : closed }];
}

function closeText(event: unknown): string {
  const { code = 'no answer', reason = '' } = (event ?? {}) as { code?: unknown; reason?: unknown };
  return `the socket was closed: ${String(code)} ${String(reason)}`.trim();
}

function codeOf(problem: unknown): unknown {
  return (problem as { code?: unknown } | null | undefined)?.code;
}
