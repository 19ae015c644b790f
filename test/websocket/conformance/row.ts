import assert from 'node:assert/strict';
import { openSocket } from '../../support/socket.ts';
import type { Closing, ProtocolMessage, Scope, Socket, SocketOptions } from '../../support/socket.ts';
import { createProbe } from '../probe.ts';
import type { Probe } from '../probe.ts';
import type { Settings, Target } from '../target.ts';

/** One line of the conformance table: one promise of the protocol, run on fresh sockets. */
export interface Row {
  /** C-… as in the protocol's conformance table, X-… for further promises of crier. */
  readonly id: string;
  /** P: stated by the protocol. REF: only by the reference implementation. REC: our choice. RFC: RFC 6455. */
  readonly level: 'P' | 'REF' | 'REC' | 'RFC';
  readonly title: string;
  /** Settings of a separate server for this row. Default: the server that rows share. */
  readonly settings?: Settings;
  run(stage: Stage): Promise<void>;
}

export const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';
export const LIVE_LATER = 'subscription ($token: String!) { live_later(token: $token) { value } }';
export const SLOW = 'query ($token: String!) { slow(token: $token) }';

/** The server and sockets of a row. */
export class Stage {
  readonly target: Target;
  readonly hasAckPayload: boolean;
  readonly #scope: Scope;
  readonly #patienceMs: number;

  constructor(scope: Scope, target: Target, options: { hasAckPayload: boolean; patienceMs: number }) {
    this.#scope = scope;
    this.target = target;
    this.hasAckPayload = options.hasAckPayload;
    this.#patienceMs = options.patienceMs;
  }

  get url(): string {
    return this.target.url;
  }

  /** Longest wait for something that must happen, in ms. */
  get patienceMs(): number {
    return this.#patienceMs;
  }

  probe(): Probe {
    return createProbe(this.#scope);
  }

  /** A fresh socket without `connection_init`. */
  open(options: SocketOptions = {}): Promise<Socket> {
    return openSocket(this.#scope, this.url, { patienceMs: this.#patienceMs, ...options });
  }

  /** A fresh socket, acknowledged. */
  async connect(options: SocketOptions = {}): Promise<Socket> {
    const socket = await this.open(options);
    await socket.init();
    return socket;
  }

  /** A running `live` operation, proven by its first event (value 0). */
  async live(socket: Socket, id: string, probe = this.probe()): Promise<Probe> {
    socket.subscribe(id, LIVE, { token: probe.token });
    await waitForStart(socket, probe, 1);
    probe.push(0);
    assert.deepEqual(await socket.next(), next(id, { live: { value: 0 } }));
    return probe;
  }

  /** Each message, alone on a fresh acknowledged socket, is answered with this close code and nothing else. */
  async refuses(code: number, messages: readonly (object | string)[]): Promise<void> {
    for (const message of messages) {
      const socket = await this.connect();
      socket.send(message);
      await expectClose(socket, code, JSON.stringify(message));
    }
  }

  /** Each message is accepted without an answer, and the socket stays open. */
  async ignores(messages: readonly object[]): Promise<void> {
    const socket = await this.connect();
    for (const message of messages) {
      socket.send(message);
      assert.deepEqual(await socket.roundTrip(), [], JSON.stringify(message));
    }
  }
}

/** Makes round trips until the probe has `starts` sources, so that a close is noticed meanwhile. */
export async function waitForStart(socket: Socket, probe: Probe, starts: number): Promise<void> {
  const unexpected: ProtocolMessage[] = [];
  for (let i = 0; i < 20 && probe.starts < starts; i++) unexpected.push(...(await socket.roundTrip()));
  assert.equal(probe.starts, starts, `started sources; messages received instead: ${JSON.stringify(unexpected)}`);
  assert.deepEqual(unexpected, []);
}

/** The socket is closed with one of these codes, and no other message has arrived. */
export async function expectClose(socket: Socket, code: number | readonly number[], why = ''): Promise<Closing> {
  const closing = await socket.expectClose();
  assert.ok([code].flat().includes(closing.code), `${why} closed with ${JSON.stringify(closing)}, not ${String(code)}`);
  assert.deepEqual(socket.unread, [], why);
  return closing;
}

export function next(id: string, data: unknown): ProtocolMessage {
  return { id, type: 'next', payload: { data } };
}

export function complete(id: string): ProtocolMessage {
  return { id, type: 'complete' };
}

/** One `error` for this id, its payload a non-empty array of GraphQL errors. */
export function assertError(message: ProtocolMessage, id: string): { message: string; code: unknown } {
  assert.equal(message.type, 'error', JSON.stringify(message));
  assert.equal(message.id, id);
  const [error] = message.payload as { message: string; extensions?: { code?: unknown } }[];
  assert.equal(typeof error?.message, 'string', JSON.stringify(message));
  return { message: error!.message, code: error!.extensions?.code };
}
