import { MessageType } from 'graphql-ws';
import { isJsonObject, jsonKind } from '../../base/json/json-object.ts';
import { payloadProblem } from '../operations/payload-problem.ts';

/** Types of subscriptions-transport-ws, the protocol before this one, and what replaces them. */
const OLD_TYPES: Readonly<Record<string, string>> = {
  start: 'subscribe',
  stop: 'complete',
  connection_terminate: 'a close of the socket',
};

/**
 * Why a message of a client is none, for the reason of its close (at most 123 bytes): the property, and what it is. It shows no value of the
 * client, because the log has it.
 */
export function messageProblem(message: unknown): string {
  if (Array.isArray(message)) return 'A batch of messages is not supported: send each message alone';
  if (!isJsonObject(message)) return `A message must be a JSON object, got ${jsonKind(message)}`;
  const { type, id, payload } = message;
  if (typeof type !== 'string') return `type must be a string, got ${jsonKind(type)}`;
  if (Object.hasOwn(OLD_TYPES, type))
    return `type "${type}": this is graphql-transport-ws, where it is ${OLD_TYPES[type]} (npm package graphql-ws)`;
  switch (type as MessageType) {
    case MessageType.ConnectionInit:
    case MessageType.Ping:
    case MessageType.Pong:
      return `payload must be an object, got ${jsonKind(payload)}`;
    case MessageType.Complete:
      return idProblem(id);
    case MessageType.Subscribe:
      return typeof id === 'string' && id !== '' ? subscribeProblem(payload) : idProblem(id);
    case MessageType.ConnectionAck:
    case MessageType.Next:
    case MessageType.Error:
      return `type "${type}" is of servers`;
    default:
      return 'type must be connection_init, subscribe, complete, ping or pong';
  }
}

function idProblem(id: unknown): string {
  return id === '' ? 'id must not be empty' : `id must be a string, got ${jsonKind(id)}`;
}

function subscribeProblem(payload: unknown): string {
  if (!isJsonObject(payload)) return `payload must be an object, got ${jsonKind(payload)}`;
  if (payload['query'] === undefined) return 'payload.query is missing';
  return payloadProblem(payload)!;
}
