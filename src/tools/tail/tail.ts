import type { IncomingMessage } from 'node:http';
import { createClient } from '@crier/client';
import type { EventClient, EventExtensions } from '@crier/client';
import type { FormattedExecutionResult } from 'graphql';
import { CloseCode } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import { SetupError, UsageError } from '../../base/errors.ts';
import { positiveInteger, readArguments, readHeaders } from '../command.ts';
import { paint } from '../../base/paint.ts';
import { escapeHidden, onOneLine } from '../../base/visible.ts';
import { checkedDocument, jsonObject, webSocketUrl } from '../server-arguments.ts';

export const usage = `Prints the events of a subscription, a line of JSON for each. After a lost connection it resumes.

Usage: crier tail '<subscription>' [options]

  --url <url>               the server; default: ws://localhost:4000/graphql
  --header <name: value>    a header of the upgrade request; may be repeated
  --token <token>           sent as { "token": … } when the connection begins
  --variables <json>        variables of the subscription
  --count <number>          ends after this many events
  --whole                   prints the whole result, with errors and extensions; default: its data

Data goes to standard output, everything else to standard error.
Exits with 0 when the subscription completes or after Ctrl-C, with 1 after an error.
`;

const DEFAULT_URL = 'ws://localhost:4000/graphql';

/** Characters of the text of a refused upgrade that are shown. */
const MAX_REPLY_LENGTH = 1000;

/** OpenSSL's message for a server that answers without TLS. */
const WRONG_SCHEME = /wrong version number|packet length too long/;

type Result = FormattedExecutionResult<Record<string, unknown>, EventExtensions>;

interface Subscription {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string | undefined;
  readonly query: string;
  readonly variables: Record<string, unknown> | undefined;
  readonly count: number;
  readonly isWhole: boolean;
}

export async function run(args: readonly string[]): Promise<number> {
  const subscription = subscriptionOf(args);
  const interrupted = new Promise<number>((resolve) => process.once('SIGINT', () => resolve(0)));
  return Promise.race([follow(subscription), interrupted]);
}

function subscriptionOf(args: readonly string[]): Subscription {
  const text = { type: 'string' } as const;
  const options = {
    url: text,
    header: { type: 'string', multiple: true },
    token: text,
    variables: text,
    count: text,
    whole: { type: 'boolean' },
  } as const;
  const { values, positionals } = readArguments('tail', args, { options, maxPositionals: 1 });
  const [query] = positionals;
  if (query === undefined)
    throw new UsageError("expected a subscription, such as 'subscription { … }'; see crier tail --help");
  return {
    url: webSocketUrl('--url', values.url ?? DEFAULT_URL),
    headers: readHeaders(values.header ?? []),
    token: values.token,
    query: checkedDocument('<subscription>', query),
    variables: values.variables === undefined ? undefined : jsonObject('--variables', values.variables),
    count: values.count === undefined ? Infinity : positiveInteger('--count', values.count),
    isWhole: values.whole ?? false,
  };
}

/** Resolves with the exit code. */
function follow(subscription: Subscription): Promise<number> {
  const { query, variables, count, isWhole } = subscription;
  let received = 0;
  return new Promise((resolve, reject) => {
    const end = (code: number) => {
      void client.dispose();
      resolve(code);
    };
    const client = connect(subscription, end, (error) => {
      void client.dispose();
      reject(error);
    });
    // A reader such as `head` has what it wants.
    process.stdout.once('error', () => end(0));
    client.subscribe<Record<string, unknown>>(
      { query, ...(variables && { variables }) },
      {
        next: (result: Result) => {
          if (received === count) return;
          received++;
          print(result, isWhole);
          if (received === count) end(0);
        },
        error: (problem) => {
          note(reasonOf(problem), 'red');
          end(1);
        },
        complete: () => end(0),
      },
    );
  });
}

/** A client that notes what happens to its connection. `onRefused`: the first connection failed. */
function connect(
  { url, headers, token }: Subscription,
  end: (code: number) => void,
  onRefused: (error: SetupError) => void,
): EventClient {
  let wasConnected = false;
  let isConnected = false;
  return createClient({
    url,
    webSocketImpl: socketWith(headers),
    ...(token !== undefined && { connectionParams: { token } }),
    on: {
      connected: () => {
        note(wasConnected ? 'connected again' : `connected to ${url}`);
        wasConnected = isConnected = true;
      },
      closed: (event) => {
        // The next connection would send the same token.
        if ((event as { code?: number }).code === CloseCode.Forbidden) {
          note(`${closeText(event)}; --token or --header sends another token`, 'red');
          return end(1);
        }
        if (isConnected) note(`${closeText(event)}; connecting again`);
        isConnected = false;
      },
      error: (error) => {
        if (wasConnected) return;
        const reason = (error as Error).message || 'no answer';
        const fix = WRONG_SCHEME.test(reason)
          ? 'the server speaks no TLS there: write ws:// in --url'
          : 'is crier running there? --url names another server';
        onRefused(new SetupError(`cannot connect to ${url}: ${onOneLine(reason)}; ${fix}`));
      },
    },
  });
}

function socketWith(headers: Subscription['headers']) {
  return class extends WebSocket {
    constructor(address: string, protocols?: string | string[]) {
      super(address, protocols, { headers } satisfies ClientOptions);
      // Without a listener the text of the reply, which names the mend, would be lost.
      this.on('unexpected-response', (_, response) => void this.#refuse(response));
    }

    async #refuse(response: IncomingMessage): Promise<void> {
      const { statusCode, statusMessage } = response;
      let text = '';
      try {
        for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>)
          if ((text += chunk).length > MAX_REPLY_LENGTH) break;
      } catch {
        // What has come is shown.
      }
      const shown = text.slice(0, MAX_REPLY_LENGTH).trim();
      this.emit('error', new Error(`${statusCode} ${statusMessage}${shown && `: ${shown}`}`));
      this.terminate();
    }
  };
}

function print(result: Result, isWhole: boolean): void {
  const { data, errors, extensions } = result;
  if (extensions?.gap || extensions?.resumed === false) note('events may be missing before the next one', 'yellow');
  if (isWhole) return writeJson(result);
  for (const { message, path } of errors ?? [])
    note(`${onOneLine(path?.join('.') ?? 'error')}: ${onOneLine(message)}`, 'red');
  if (data) writeJson(data);
}

/** A line that a terminal shows as it is, and a program reads as the same value. */
function writeJson(value: object): void {
  process.stdout.write(`${escapeHidden(JSON.stringify(value))}\n`);
}

function reasonOf(problem: unknown): string {
  if (Array.isArray(problem)) return problem.map(({ message }: { message: string }) => onOneLine(message)).join('\n');
  return problem instanceof Error ? onOneLine(problem.message) : closeText(problem);
}

function closeText(event: unknown): string {
  const { code, reason } = event as { code?: number; reason?: string };
  return `the connection was closed: ${code ?? 'without a code'} ${onOneLine(reason ?? '')}`.trim();
}

function note(text: string, colour: 'dim' | 'yellow' | 'red' = 'dim'): void {
  process.stderr.write(`${paint(process.stderr, colour, text)}\n`);
}
