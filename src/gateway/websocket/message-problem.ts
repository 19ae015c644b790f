import { MessageType } from 'graphql-ws';

/** Types of subscriptions-transport-ws, the protocol before this one, and what replaces them. */
const OLD_TYPES: Readonly<Record<string, string>> = {
  start: 'subscribe',
  stop: 'complete',
  connection_terminate: 'a close of the socket',
};

/** Of the payload of a `subscribe`, in the order in which graphql-ws looks at them; `query` is needed. */
const PROPERTIES: readonly (readonly [name: string, kind: 'string' | 'object'])[] = [
  ['query', 'string'],
  ['variables', 'object'],
  ['operationName', 'string'],
  ['extensions', 'object'],
];

/**
 * Why a message of a client is none, for the reason of its close (at most 123 bytes): the property, and what it is. It shows no value of the
 * client, because the log has it.
 */
export function messageProblem(message: unknown): string {
  if (Array.isArray(message)) return 'A batch of messages is not supported: send each message alone';
  if (!isObject(message)) return `A message must be a JSON object, got ${nameOf(message)}`;
  const { type, id, payload } = message;
  if (typeof type !== 'string') return `type must be a string, got ${nameOf(type)}`;
  if (Object.hasOwn(OLD_TYPES, type))
    return `type "${type}": this is graphql-transport-ws, where it is ${OLD_TYPES[type]} (npm package graphql-ws)`;
  switch (type as MessageType) {
    case MessageType.ConnectionInit:
    case MessageType.Ping:
    case MessageType.Pong:
      return `payload must be an object, got ${nameOf(payload)}`;
    case MessageType.Complete:
      return idProblem(id);
    case MessageType.Subscribe:
      return typeof id === 'string' && id !== '' ? payloadProblem(payload) : idProblem(id);
    case MessageType.ConnectionAck:
    case MessageType.Next:
    case MessageType.Error:
      return `type "${type}" is of servers`;
    default:
      return 'type must be connection_init, subscribe, complete, ping or pong';
  }
}

function idProblem(id: unknown): string {
  return id === '' ? 'id must not be empty' : `id must be a string, got ${nameOf(id)}`;
}

function payloadProblem(payload: unknown): string {
  if (!isObject(payload)) return `payload must be an object, got ${nameOf(payload)}`;
  if (payload['query'] === undefined) return 'payload.query is missing';
  const isBad = ([name, kind]: (typeof PROPERTIES)[number]) => {
    const value = payload[name];
    if (value == null) return name === 'query';
    return kind === 'string' ? typeof value !== 'string' : !isObject(value);
  };
  const [name, kind] = PROPERTIES.find(isBad)!;
  return `${name} must be ${kind === 'string' ? 'a string' : 'an object'}, got ${nameOf(payload[name])}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
