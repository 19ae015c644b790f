import { HISTORY, OPERATION, SUBSCRIPTION } from './stats.ts';
import type { Figures, OperationDetails, OperationStats, Stats } from './stats.ts';

export interface StreamObserver {
  /** Called before the first figures of each stream. @param history of the pod, the oldest first */
  onHistory(history: readonly Figures[]): void;
  onStats(stats: Stats): void;
  /** It is tried again. @param reason for a person */
  onBroken(reason: string): void;
  /** A token is missing or wrong. It is not tried again before `open` is called with one. */
  onRefused(reason: string): void;
  /** No token helps. It is not tried again. */
  onForbidden(reason: string): void;
}

/** Longest silence of a stream that is sound; its server writes once a second. */
const SILENCE_MS = 15_000;
const LONGEST_WAIT_MS = 3000;
/** Characters that no header can carry: `fetch` throws for most, and a server refuses the others. */
const NOT_IN_HEADERS = /[^\x20-\x7e\x80-\xff]/;

interface Outcome {
  readonly reason: string;
  readonly next: 'retry' | 'refused' | 'forbidden';
}

interface Result<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string }[];
}

/** By HTTP status. */
const NEXT: Readonly<Record<number, Outcome['next']>> = { 401: 'refused', 403: 'forbidden' };

/** `crier_stats` over server-sent events, opened again whenever it ends. EventSource cannot send a token. */
export class StatsStream {
  readonly #url: URL;
  readonly #observer: StreamObserver;
  #attempt = new AbortController();
  #token = '';

  /** @param url of the endpoint */
  constructor(url: URL, observer: StreamObserver) {
    this.#url = url;
    this.#observer = observer;
  }

  /** Opens the stream instead of the one before. @param token '': none */
  open(token: string): void {
    this.#attempt.abort();
    this.#attempt = new AbortController();
    this.#token = token;
    void this.#run(this.#attempt.signal);
  }

  /** What the pod knows of an operation; null: nothing. With the token of the stream. @throws Error whose message is for a person */
  async lookUp({
    document,
    operation,
  }: Pick<OperationStats, 'document' | 'operation'>): Promise<OperationDetails | null> {
    const response = await this.#ask(OPERATION, { variables: JSON.stringify({ document, operation }) });
    if (!response.ok) throw new Error(await reasonOf(response));
    const { data, errors } = (await response.json()) as Result<{ crier_operation: OperationDetails | null }>;
    if (!data || errors) throw new Error(errors?.[0]?.message ?? 'no data');
    return data.crier_operation;
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const { reason, next } = await this.#read(stopped).catch(({ message }: Error): Outcome => ({
        reason: message,
        next: 'retry',
      }));
      if (stopped.aborted) return;
      if (next === 'refused') return this.#observer.onRefused(reason);
      if (next === 'forbidden') return this.#observer.onForbidden(reason);
      this.#observer.onBroken(reason);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_WAIT_MS));
    }
  }

  async #read(stopped: AbortSignal): Promise<Outcome> {
    if (NOT_IN_HEADERS.test(this.#token))
      return {
        reason: 'the token has a character that an HTTP header cannot carry: compare it with ADMIN_TOKEN',
        next: 'refused',
      };
    const silence = new AbortController();
    const listen = () => setTimeout(() => silence.abort(new Error('no figures for 15 s')), SILENCE_MS);
    let timer = listen();
    const signal = AbortSignal.any([stopped, silence.signal]);
    try {
      const response = await this.#ask(SUBSCRIPTION, {}, { signal, headers: { accept: 'text/event-stream' } });
      if (!response.ok || !response.body)
        return { reason: await reasonOf(response), next: NEXT[response.status] ?? 'retry' };
      await this.#readHistory(signal);
      let rest = '';
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(timer);
        timer = listen();
        const events = (rest + chunk).split('\n\n');
        rest = events.pop()!;
        for (const event of events) this.#onEvent(event);
      }
      return { reason: 'the pod ended the stream', next: 'retry' };
    } finally {
      clearTimeout(timer);
    }
  }

  /** A pod of a former version has none. */
  async #readHistory(signal: AbortSignal): Promise<void> {
    const response = await this.#ask(HISTORY, {}, { signal });
    if (!response.ok) return;
    const { data } = (await response.json()) as { data?: { crier_stats_history: Figures[] } };
    if (data) this.#observer.onHistory(data.crier_stats_history);
  }

  #ask(
    query: string,
    parameters: Readonly<Record<string, string>>,
    { headers, signal }: { readonly headers?: object; readonly signal?: AbortSignal } = {},
  ): Promise<Response> {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries({ query, ...parameters })) url.searchParams.set(name, value);
    const access = this.#token ? { authorization: `Bearer ${this.#token}` } : {};
    return fetch(url, { headers: { ...headers, ...access }, signal: signal ?? null, cache: 'no-store' });
  }

  #onEvent(event: string): void {
    const [, data] = /^data: (.+)$/m.exec(event) ?? [];
    if (data === undefined) return;
    const { data: result, errors } = JSON.parse(data) as Result<{ crier_stats: Stats }>;
    if (!result) throw new Error(errors?.[0]?.message ?? 'no data');
    this.#observer.onStats(result.crier_stats);
  }
}

async function reasonOf(response: Response): Promise<string> {
  return (await response.text()).trim().slice(0, 500) || `HTTP ${response.status}`;
}
