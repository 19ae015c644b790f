import { getOperationAST, parse } from 'graphql';
import type { Operation } from '../conformance/subject.ts';
import { UsageError } from '../../base/errors.ts';
import { positiveInteger, readArguments, readHeaders } from '../command.ts';
import { checkedDocument, jsonObject, webSocketUrl } from '../server-arguments.ts';

export const usage = `Tries any server of graphql-transport-ws: what it keeps of the protocol, and how fast it fans events out.

Usage: crier bench <url> [options]

The server:
  --subscription <operation>  a subscription that goes on. Without one, rows that need one are skipped
  --variables <json>          variables of the subscription
  --trigger <mutation>        causes one event. Its variable $n, if it has one, gets the number of the event,
                              so that events differ. Without it the server must send events by itself
  --trigger-url <url>         where the mutation goes: http(s) by POST, ws(s) over the WebSocket;
                              default: <url> by POST
  --query <query>             a query that is answered with data; default: { __typename }
  --header <name: value>      a header of every request; may be repeated
  --connection-params <json>  payload of connection_init
  --refused-params <json>     a payload of connection_init that the server refuses
  --timeout <seconds>         longest wait for an answer, an event or a close; default: 10

Fan-out, with --subscription:
  --sockets <number>          sockets that subscribe; default: 100
  --duration <seconds>        how long deliveries are counted; default: 10
  --sent-at <path>            field of the data with the time at which the event was sent, in ms since 1970
                              or as a date: latencies count from there, by the clocks of both machines
Output:
  --only conformance|fan-out  runs one of the two
  --json                      prints the result as JSON
  --help                      prints this text

The result goes to standard output, progress to standard error. NODE_EXTRA_CA_CERTS=<file> trusts an authority of yours.
Exits with 0 if every row that was tried is kept, with 1 if a row of the protocol failed (not of REF and REC) or the
server cannot be tried, with 2 for wrong arguments, and with 130 after Ctrl-C, when it prints what it has found.
`;

export interface Trigger extends Operation {
  /** ws:, wss:, http: or https: */
  readonly url: string;
  /** The mutation declares a variable $n. */
  readonly isNumbered: boolean;
}

export interface Bench {
  /** ws: or wss: */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectionParams: Readonly<Record<string, unknown>> | undefined;
  readonly refusedParams: Readonly<Record<string, unknown>> | undefined;
  readonly query: Operation;
  readonly subscription: Operation | undefined;
  readonly trigger: Trigger | undefined;
  readonly timeoutMs: number;
  readonly sockets: number;
  readonly durationMs: number;
  /** Path of the time in the data of an event. */
  readonly sentAt: readonly string[] | undefined;
  readonly only: 'conformance' | 'fan-out' | undefined;
  readonly isJson: boolean;
}

/** @throws UsageError */
export function readBench(args: readonly string[]): Bench {
  const text = { type: 'string' } as const;
  const options = {
    subscription: text,
    variables: text,
    trigger: text,
    'trigger-url': text,
    query: text,
    header: { type: 'string', multiple: true },
    'connection-params': text,
    'refused-params': text,
    timeout: text,
    sockets: text,
    duration: text,
    'sent-at': text,
    only: text,
    json: { type: 'boolean' },
  } as const;
  const { values, positionals } = readArguments('bench', args, { options, maxPositionals: 1 });
  const [address] = positionals;
  if (address === undefined)
    throw new UsageError('expected the URL of a server, such as ws://localhost:4000/graphql; see crier bench --help');
  const url = webSocketUrl('<url>', address);
  const optional = <T>(option: keyof typeof values, read: (option: string, given: string) => T): T | undefined => {
    const given = values[option];
    return typeof given === 'string' ? read(`--${option}`, given) : undefined;
  };
  const seconds = (option: 'timeout' | 'duration') => (optional(option, positiveInteger) ?? 10) * 1000;
  const { subscription } = values;
  for (const option of ['variables', 'trigger', 'sent-at', 'sockets', 'duration'] as const) {
    if (values[option] !== undefined && subscription === undefined)
      throw new UsageError(`--${option}: of no use without --subscription`);
  }
  if (values.only === 'fan-out' && subscription === undefined)
    throw new UsageError('--only fan-out: expected --subscription, too');
  return {
    url,
    headers: readHeaders(values.header ?? []),
    connectionParams: optional('connection-params', jsonObject),
    refusedParams: optional('refused-params', jsonObject),
    query: { query: values.query === undefined ? '{ __typename }' : operationOf('query', values.query) },
    subscription:
      subscription === undefined
        ? undefined
        : { query: operationOf('subscription', subscription), variables: optional('variables', jsonObject) },
    trigger: optional('trigger', (_, given) => triggerOf(given, optional('trigger-url', anyUrl) ?? httpUrl(url))),
    timeoutMs: seconds('timeout'),
    sockets: optional('sockets', positiveInteger) ?? 100,
    durationMs: seconds('duration'),
    sentAt: values['sent-at']?.split('.'),
    only: optional('only', oneOf('conformance', 'fan-out')),
    isJson: values.json ?? false,
  };
}

/** @throws UsageError unless the document is one operation of this type */
function operationOf(type: 'query' | 'mutation' | 'subscription', text: string): string {
  const option = type === 'mutation' ? '--trigger' : `--${type}`;
  const given: string = getOperationAST(parse(checkedDocument(option, text)))!.operation;
  if (given === type) return text;
  throw new UsageError(`${option}: expected one ${type}, got a ${given}`);
}

function triggerOf(text: string, url: string): Trigger {
  const query = operationOf('mutation', text);
  const { variableDefinitions } = getOperationAST(parse(text))!;
  const names = (variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  return { query, url, isNumbered: names.includes('n') };
}

function anyUrl(option: string, text: string): string {
  if (URL.canParse(text) && /^(ws|http)s?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`${option}: expected a URL such as http://localhost:4000/graphql, got ${JSON.stringify(text)}`);
}

function httpUrl(url: string): string {
  return url.replace(/^ws/, 'http');
}

function oneOf<const T extends string>(...words: readonly T[]) {
  return (option: string, text: string): T => {
    const word = words.find((one) => one === text);
    if (word !== undefined) return word;
    throw new UsageError(`${option}: expected ${words.join(' or ')}, got ${JSON.stringify(text)}`);
  };
}
