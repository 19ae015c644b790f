import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Scope } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';

export interface StreamEvent {
  readonly event: string | undefined;
  /** Parsed; undefined: the event has no data. */
  readonly data: unknown;
  readonly id: string | undefined;
}

export interface StreamOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** The response to a request for a stream, as it arrives. */
export class StreamClient {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  text = '';
  isEnded = false;
  readonly #response: IncomingMessage;
  #taken = 0;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode!;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (text: string) => (this.text += text));
    response.on('error', () => undefined);
    response.on('close', () => (this.isEnded = true));
  }

  /** The events so far, without comments. */
  get events(): StreamEvent[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .filter((block) => !block.startsWith(':'))
      .map(eventOf);
  }

  /** The next events. */
  async take(count: number): Promise<StreamEvent[]> {
    await waitFor(`${count} events`, () => this.events.length >= this.#taken + count);
    return this.events.slice(this.#taken, (this.#taken += count));
  }

  async ended(): Promise<void> {
    await waitFor('the end of the stream', () => this.isEnded);
  }

  leave(): void {
    this.#response.destroy();
  }

  pause(): void {
    this.#response.pause();
  }
}

/** Resolves with the response once its headers have arrived. */
export async function openStream(
  scope: Scope,
  url: string,
  { method = 'POST', headers = {}, body }: StreamOptions = {},
): Promise<StreamClient> {
  const outgoing = request(url, {
    method,
    agent: false,
    headers: { accept: 'text/event-stream', ...(body && { 'content-type': 'application/json' }), ...headers },
  });
  outgoing.on('error', () => undefined);
  scope.after(() => void outgoing.destroy());
  outgoing.end(body && JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return new StreamClient(response);
}

/** Sends the headers of a POST. Resolves once it is authenticated and its body is awaited, with a function that sends that. */
export async function beginPost(
  scope: Scope,
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<() => Promise<StreamClient>> {
  const text = JSON.stringify(body);
  const outgoing = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'content-length': text.length,
      expect: '100-continue',
      ...headers,
    },
  });
  outgoing.on('error', () => undefined);
  scope.after(() => void outgoing.destroy());
  outgoing.flushHeaders();
  await once(outgoing, 'continue');
  return async () => {
    outgoing.end(text);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return new StreamClient(response);
  };
}

function eventOf(block: string): StreamEvent {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const [name = '', ...rest] = line.split(':');
      return [name, rest.join(':').replace(/^ /, '')];
    }),
  );
  const data = fields.get('data');
  return {
    event: fields.get('event'),
    data: data === undefined || data === '' ? undefined : (JSON.parse(data) as unknown),
    id: fields.get('id'),
  };
}
