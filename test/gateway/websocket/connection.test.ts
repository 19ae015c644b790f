import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { resultBytesOf } from '../../../src/gateway/fanout/outbox/frame.ts';
import type { Subscription } from '../../../src/gateway/fanout/subscription.ts';
import { Connection } from '../../../src/gateway/websocket/connection.ts';
import { TRANSPORT_WS } from '../../../src/gateway/websocket/transport-ws.ts';
import { clientFrame, OPCODE } from '../../../src/tools/conformance/client-frame.ts';
import { openSocket } from '../../support/socket.ts';
import type { Socket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { LIMITS, startBareGateway, UUID } from './bare-gateway.ts';
import { anyOperation } from '../../support/any-operation.ts';

const OPERATION = anyOperation();

const INTERNAL_ERROR = [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }];

/** A client with a live operation `a`. The test delivers its events. */
async function startSubscribed(t: TestContext) {
  const subscriptions: Subscription[] = [];
  const hub = { channelsLeft: 0 };
  const gateway = await startBareGateway(t, {
    runtime: {
      findPrepared: () => OPERATION,
      subscribe: () => Promise.resolve({ channels: ['channel'] }),
    },
    hub: {
      join: (_channel: string, _sharingKey: string, subscription: Subscription) => {
        subscriptions.push(subscription);
        return Promise.resolve(() => hub.channelsLeft++);
      },
    },
  });
  const subscribe = async (socket: Socket) => {
    socket.subscribe('a', 'subscription { a }');
    await socket.roundTrip();
    return subscriptions.at(-1)!;
  };
  const socket = await openSocket(t, gateway.url);
  await socket.init();
  return { ...gateway, socket, subscribe, hub };
}

describe('a connection', () => {
  it('is closed with 1012 when handling its message fails; the others stay open', async (t) => {
    const { url, failures } = await startBareGateway(t, {
      limits: {
        ...LIMITS,
        get maxIdBytes(): number {
          throw new Error('a bug');
        },
      },
    });
    const other = await openSocket(t, url);
    const socket = await openSocket(t, url);
    await socket.init();
    socket.subscribe('a', '{ a }');
    assert.deepEqual(await socket.expectClose(), { code: 1012, reason: 'Internal server error' });
    assert.ok(other.isOpen);
    assert.deepEqual(
      failures.map(([ended, error]) => [ended, (error as Error).message]),
      [['connection', 'a bug']],
    );
    assert.match(failures[0]![2]!, UUID);
  });

  it('logs its end at debug with id, code, reason, seconds, operations and bytes', async (t) => {
    const { socket, subscribe, lines } = await startSubscribed(t);
    await subscribe(socket);
    socket.send({ type: 'connection_init' });
    await socket.expectClose();
    await waitFor('the line', () => lines.length > 0);
    const { connection, level, seconds, bytesSent, bytesReceived, ...line } = lines[0] as Record<string, unknown>;
    assert.match(connection as string, UUID);
    assert.equal(level, pino.levels.values['debug']);
    assert.ok([seconds, bytesSent, bytesReceived].every((value) => Number.isInteger(value)));
    assert.ok((bytesSent as number) > 0 && (bytesReceived as number) > 0);
    const { code, reason, operations, msg } = line;
    assert.deepEqual(
      [code, reason, operations, msg],
      [4429, 'Too many initialisation requests', 1, 'connection ended'],
    );
  });

  it('does not log the reason of a client that closes', async (t) => {
    const { socket, lines } = await startSubscribed(t);
    socket.close(4999, 'hunter2');
    await waitFor('the line', () => lines.length > 0);
    const { code, reason } = lines[0] as Record<string, unknown>;
    assert.deepEqual([code, reason], [4999, undefined]);
    assert.doesNotMatch(JSON.stringify(lines), /hunter2/);
  });

  it('receives an error when handling its subscribe message fails, and the id is free again', async (t) => {
    const { url, failures } = await startBareGateway(t, {
      runtime: {
        findPrepared: () => assert.fail('a bug'),
      },
    });
    const socket = await openSocket(t, url);
    await socket.init();
    for (let i = 0; i < 2; i++) {
      socket.subscribe('a', '{ hello }');
      const { type, id, payload } = await socket.next();
      assert.deepEqual({ type, id, payload }, { type: 'error', id: 'a', payload: INTERNAL_ERROR });
    }
    assert.deepEqual(
      failures.map(([ended]) => ended),
      ['operation', 'operation'],
    );
    assert.match(failures[0]![2]!, UUID);
  });

  it('receives an error for an operation whose event cannot be delivered, and stays open', async (t) => {
    const { socket, subscribe, hub, failures } = await startSubscribed(t);
    const error = new Error('a bug');
    (await subscribe(socket)).fail(error);
    assert.deepEqual(await socket.next(), { type: 'error', id: 'a', payload: INTERNAL_ERROR });
    assert.deepEqual(
      failures.map(([ended, error]) => [ended, error]),
      [['operation', error]],
    );
    assert.match(failures[0]![2]!, UUID);
    assert.equal(hub.channelsLeft, 1);
    (await subscribe(socket)).deliver(resultBytesOf([Buffer.from('{"data":{}')]));
    assert.deepEqual(await socket.next(), { type: 'next', id: 'a', payload: { data: {} } });
  });

  it('is terminated when a write to it fails; the others stay open', async (t) => {
    const { socket, url, writer, failures, closes } = await startSubscribed(t);
    const other = await openSocket(t, url);
    const error = new Error('a bug');
    t.mock.method(writer.scratch, 'write', () => assert.fail(error), { times: 1 });
    socket.send({ type: 'ping' });
    assert.equal((await socket.expectClose()).code, 1006);
    assert.deepEqual(
      failures.map(([ended, error]) => [ended, error]),
      [['connection', error]],
    );
    assert.match(failures[0]![2]!, UUID);
    await waitFor('the close', () => closes.length === 1);
    assert.deepEqual(await other.roundTrip(), []);
  });

  it('is closed with 1013 when its peer does not read, and counted', async (t) => {
    const { socket, subscribe, counts, closes } = await startSubscribed(t);
    const subscription = await subscribe(socket);
    socket.pause();
    const event = resultBytesOf([Buffer.from(`{"data":"${'x'.repeat(65_536)}"`)]);
    await waitFor('the bound', () => {
      for (let i = 0; i < 100; i++) subscription.deliver(event);
      return counts.slowConsumers > 0;
    });
    socket.resume();
    assert.equal((await socket.expectClose()).code, 1013);
    await waitFor('the close', () => closes.length > 0);
    assert.deepEqual([closes, counts.slowConsumers], [[1013], 1]);
  });

  it('has its frame errors in the log at level debug', async (t) => {
    const { url, lines } = await startBareGateway(t);
    const socket = await openSocket(t, url);
    socket.write(clientFrame('{}', { isMasked: false }));
    await socket.expectClose();
    const { msg, level, connection } = await waitFor('the line', () => lines[0]);
    assert.deepEqual([msg, level], ['socket error', 20]);
    assert.match(connection, UUID);
  });

  for (const [what, code, reason, bytes] of [
    [
      'a frame without a mask',
      1002,
      'Invalid WebSocket frame: MASK must be set',
      clientFrame('{}', { isMasked: false }),
    ],
    ['a reserved opcode', 1002, 'Invalid WebSocket frame: invalid opcode 3', clientFrame('', { opcode: 3 })],
    [
      'text that is not UTF-8',
      1007,
      'Invalid WebSocket frame: invalid UTF-8 sequence',
      clientFrame(Buffer.from([0xff, 0xfe])),
    ],
    [
      'a message in 65 fragments',
      1008,
      'Too many message fragments',
      Buffer.concat([
        clientFrame('{', { isFinal: false }),
        ...Array.from({ length: 64 }, () => clientFrame(' ', { opcode: OPCODE.continuation, isFinal: false })),
      ]),
    ],
    [
      'a frame that announces 100 MB',
      1009,
      'A message may have 65536 bytes (MAX_MESSAGE_BYTES)',
      clientFrame('', { claimedBytes: 100 * 1024 * 1024 }),
    ],
  ] as const) {
    it(`tells its client, the log and the metric ${code} and why when it receives ${what}`, async (t) => {
      const { url, closes, lines } = await startBareGateway(t);
      const socket = await openSocket(t, url);
      socket.write(bytes);
      assert.deepEqual(await socket.expectClose(), { code, reason });
      await waitFor('the close', () => closes.length === 1);
      const ended = lines.find(({ msg }) => msg === 'connection ended') as unknown as Record<string, unknown>;
      assert.deepEqual([closes, ended['code'], ended['reason']], [[code], code, reason]);
    });
  }

  it('is pinged and not ended as silent while its messages wait in the inbox, nor at the first sweep after', () => {
    const calls: string[] = [];
    const note = (name: string) => () => calls.push(name);
    const socket = {
      readyState: WebSocket.OPEN,
      isMessageIncomplete: false,
      pause: note('pause'),
      resume: note('resume'),
      ping: note('ping'),
      terminate: note('terminate'),
    };
    const services = { limits: LIMITS, inbox: { receive: () => false }, formatOf: () => TRANSPORT_WS };
    const connection = new Connection(
      ...([socket, { bytesRead: 1 }, { id: '' }, services] as unknown as ConstructorParameters<typeof Connection>),
    );
    const message = Buffer.from('{"type":"pong"}');
    const sweep = () => connection.sweep(true);
    sweep();
    connection.onMessageFrame(message);
    sweep();
    sweep();
    connection.onTurn(message);
    sweep();
    assert.deepEqual(calls, ['ping', 'pause', 'ping', 'ping', 'resume', 'ping']);
    sweep();
    assert.equal(calls.at(-1), 'terminate');
  });
});
