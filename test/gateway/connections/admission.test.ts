import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { RequestSource } from '../../../src/graph/context/connection-facts.ts';
import { Admission } from '../../../src/gateway/connections/admission.ts';
import { Refusals } from '../../../src/gateway/websocket/refusals.ts';
import { anyOperation } from '../../support/any-operation.ts';
import { openSocket } from '../../support/socket.ts';
import type { Socket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { LIMITS, startBareGateway } from '../websocket/bare-gateway.ts';

const CALM = { isMemoryShort: () => false, isLoopLate: () => false };
const OPEN = { maxConnections: 0, maxOpenFiles: Infinity, maxHandshakesPerSecond: 0, maxHandshakeBurst: 1 };

describe('Admission', () => {
  it('admits a burst and then the sustained rate', () => {
    const admission = new Admission({ ...OPEN, maxHandshakesPerSecond: 10, maxHandshakeBurst: 3 }, () => 0, CALM);
    const admitted = (nowMs: number) => {
      let count = 0;
      while (admission.refusal(nowMs) === undefined) count++;
      return count;
    };
    assert.deepEqual([admitted(0), admitted(99), admitted(100), admitted(300), admitted(10_000)], [3, 0, 1, 2, 3]);
    assert.equal(admission.refusal(10_000), 'handshake_rate');
  });

  it('admits every handshake without limits', () => {
    const admission = new Admission(OPEN, () => 100_000, CALM);
    for (let i = 0; i < 10_000; i++) assert.equal(admission.refusal(0), undefined);
    assert.equal(admission.checkFull(), false);
  });

  it('follows limits that change while it runs', () => {
    const limits = { ...OPEN };
    const admission = new Admission(limits, () => 5, CALM);
    limits.maxConnections = 5;
    assert.equal(admission.refusal(0), 'connections');
    limits.maxConnections = 6;
    assert.equal(admission.refusal(0), undefined);
    limits.maxHandshakesPerSecond = 1;
    assert.deepEqual([admission.refusal(0), admission.refusal(0)], [undefined, 'handshake_rate']);
    limits.maxHandshakeBurst = 2;
    assert.deepEqual(
      [0, 0, 0].map((now) => admission.refusal(now)),
      [undefined, undefined, 'handshake_rate'],
    );
  });

  it('is full at the limit of open files, too, and names it', () => {
    const limits = { ...OPEN, maxConnections: 7, maxOpenFiles: 6 };
    let connections = 5;
    const admission = new Admission(limits, () => connections, CALM);
    assert.deepEqual([admission.refusal(0), admission.checkFull()], [undefined, false]);
    connections = 6;
    assert.deepEqual([admission.refusal(0), admission.checkFull()], ['open_files', true]);
    limits.maxConnections = 6;
    assert.equal(admission.refusal(0), 'connections');
  });

  it('is full from the limit on, until there are 5 % less', () => {
    let connections = 99;
    const admission = new Admission({ ...OPEN, maxConnections: 100 }, () => connections, CALM);
    const isFullAt = (count: number) => {
      connections = count;
      return admission.checkFull();
    };
    assert.deepEqual([99, 100, 95, 94, 99, 100].map(isFullAt), [false, true, true, false, false, true]);
  });
});

describe('a gateway that does not admit a handshake', () => {
  it('closes it with 1013 and the reason, without authenticating', async (t) => {
    const authenticate = () => assert.fail('authenticated');
    const { url, refusals, counts, gateway } = await startBareGateway(t, {
      authenticate,
      admission: { maxConnections: 1 },
    });
    await openSocket(t, url);
    const refused = await openSocket(t, url);
    refused.send({ type: 'connection_init' });
    assert.deepEqual(await refused.expectClose(), {
      code: 1013,
      reason: 'Try again later: the server has as many connections as it may have',
    });
    assert.deepEqual([refusals, counts.opened, gateway.connections.size], [['connections'], 1, 1]);
  });

  it('names the rate, the lag of the event loop and the memory', async (t) => {
    let isMemoryShort = false;
    let isLoopLate = false;
    const { url, refusals } = await startBareGateway(t, {
      admission: { maxHandshakesPerSecond: 1, maxHandshakeBurst: 1 },
      overload: { isMemoryShort: () => isMemoryShort, isLoopLate: () => isLoopLate },
    });
    assert.ok((await openSocket(t, url)).isOpen);
    assert.match((await (await openSocket(t, url)).expectClose()).reason, /too many connections at once/);
    isLoopLate = true;
    assert.match((await (await openSocket(t, url)).expectClose()).reason, /overloaded/);
    isMemoryShort = true;
    assert.match((await (await openSocket(t, url)).expectClose()).reason, /short of memory/);
    assert.deepEqual(refusals, ['handshake_rate', 'loop_lag', 'memory']);
  });

  it('destroys the socket of a client that does not answer the close', async (t) => {
    const { url, openSockets } = await startBareGateway(t, { overload: { isMemoryShort: () => true } });
    (await openSocket(t, url)).pause();
    assert.equal(await openSockets(), 1);
    await waitFor('its socket to be destroyed', async () => (await openSockets()) === 0);
  });
});

describe('Refusals', () => {
  it('keeps at most so many sockets open, and answers further handshakes with 503', async (t) => {
    const refusals = new Refusals(1);
    const server = createServer().on('upgrade', (request, socket, head) =>
      refusals.add(request, socket, head, 1013, 'full'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      refusals.close();
      server.close();
    });
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const silent = await openSocket(t, url);
    silent.pause();
    await assert.rejects(openSocket(t, url), /503/);
    silent.resume();
    assert.equal((await silent.expectClose()).code, 1013);
    await waitFor('the first socket to be gone', () => refusals.openCount === 0);
    assert.equal((await (await openSocket(t, url)).expectClose()).code, 1013);
  });
});

describe('a connection age limit', () => {
  it('closes each connection with 1001 in a sweep after 90 % of it', { timeout: 60_000 }, async (t) => {
    const { url } = await startBareGateway(t, { pingIntervalMs: 1000, limits: { ...LIMITS, maxAgeMs: 300 } });
    const startedAt = performance.now();
    const sockets = await Promise.all([openSocket(t, url), openSocket(t, url)]);
    for (const socket of sockets) {
      assert.deepEqual(await socket.expectClose(), { code: 1001, reason: 'The connection is too old: reconnect' });
    }
    assert.ok(performance.now() - startedAt >= 270);
  });

  it('closes connections of one age at different times, from 90 to 110 % of it', async (t) => {
    const maxAgeMs = 3_600_000;
    let aheadMs = 0;
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => now() + aheadMs);
    const { url } = await startBareGateway(t, {
      pingIntervalMs: 500,
      limits: { ...LIMITS, maxAgeMs },
    });
    const sockets = await Promise.all(Array.from({ length: 40 }, () => openSocket(t, url)));
    for (const socket of sockets) await socket.init();
    const openAt = async (ageMs: number) => {
      aheadMs = ageMs;
      const before = sockets.map(({ pings }) => pings);
      await waitFor('two sweeps', () => sockets.every(({ isOpen, pings }, i) => !isOpen || pings >= before[i]! + 2));
      return sockets.filter(({ isOpen }) => isOpen).length;
    };
    assert.equal(await openAt(0.89 * maxAgeMs), 40);
    const open = await openAt(maxAgeMs);
    assert.ok(open > 0 && open < 40, `${open} of 40`);
    assert.equal(await openAt(1.11 * maxAgeMs), 0);
  });

  it('closes no connection before, nor when it is off', async (t) => {
    for (const maxAgeMs of [0, 3_600_000]) {
      const { url } = await startBareGateway(t, { pingIntervalMs: 500, limits: { ...LIMITS, maxAgeMs } });
      const socket = await openSocket(t, url);
      await waitFor('two sweeps', () => socket.pings >= 2);
      assert.ok(socket.isOpen);
    }
  });
});

describe('a gateway with limits for each client', () => {
  const identity = ({ id, params }: RequestSource) => {
    const { sub } = params as { sub?: string };
    return Promise.resolve({ facts: { id, address: '127.0.0.1' }, subject: sub });
  };

  it('closes the newest connection of a user past the limit with 1013, and accepts one again when one has closed (S-22)', async (t) => {
    const { url, refusals } = await startBareGateway(t, { authenticate: identity, maxConnectionsPerUser: 2 });
    const open = async (sub?: string) => {
      const socket = await openSocket(t, url);
      socket.send({ type: 'connection_init', payload: { sub } });
      return socket;
    };
    const first = await open('ida');
    for (const socket of [first, await open('ida'), await open('ben'), await open(), await open(), await open()]) {
      assert.equal((await socket.next()).type, 'connection_ack');
    }
    const refused = await open('ida');
    assert.deepEqual(await refused.expectClose(), {
      code: 1013,
      reason: 'This user has as many connections as a user may have',
    });
    assert.deepEqual(refusals, ['user']);
    first.close();
    await first.expectClose();
    await waitFor('the place of the first', async () => {
      const socket = await open('ida');
      return socket.next().then(
        ({ type }) => type === 'connection_ack',
        () => false,
      );
    });
  });

  it('closes the oldest idle connection of a user past the limit instead, so nobody can hold all of them (S-22)', async (t) => {
    let aheadMs = 0;
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => now() + aheadMs);
    const { url, refusals } = await startBareGateway(t, { authenticate: identity, maxConnectionsPerUser: 2 });
    const open = async () => {
      const socket = await openSocket(t, url);
      await socket.init({ sub: 'ida' });
      return socket;
    };
    const [first, second] = [await open(), await open()];
    aheadMs = 10_000;
    const third = await open();
    assert.deepEqual(await first.expectClose(), {
      code: 1013,
      reason: 'Idle, and its user has opened as many connections as a user may have',
    });
    assert.ok(second.isOpen && third.isOpen);
    assert.deepEqual(refusals, []);
  });

  it('answers an operation of a user past the limit with an error for its id, on each connection, and has room again after a complete (S-64)', async (t) => {
    const { url } = await startBareGateway(t, {
      authenticate: identity,
      maxOperationsPerUser: 2,
      runtime: { findPrepared: () => anyOperation(), subscribe: () => Promise.resolve({ channels: ['channel'] }) },
      hub: { join: () => Promise.resolve(() => undefined) },
    });
    const open = async (sub?: string) => {
      const socket = await openSocket(t, url);
      await socket.init({ sub });
      return socket;
    };
    const [one, other] = [await open('ida'), await open('ida')];
    const refusalOf = async (socket: Socket, id: string) => {
      socket.subscribe(id, 'subscription { a }');
      const [answer] = await socket.roundTrip();
      return answer;
    };
    assert.equal(await refusalOf(one, 'a'), undefined);
    assert.equal(await refusalOf(other, 'a'), undefined);
    for (const socket of [one, other]) {
      const message =
        'A user may have 2 operations at once on all connections (10 times MAX_OPERATIONS_PER_CONNECTION); complete one first';
      const payload = [{ message, extensions: { code: 'OPERATION_LIMIT' } }];
      assert.deepEqual(await refusalOf(socket, 'b'), { id: 'b', type: 'error', payload });
    }
    // Other users, and clients without a token, do not share it.
    for (const socket of [await open('ben'), await open(), await open()]) {
      assert.equal(await refusalOf(socket, 'a'), undefined);
    }
    one.complete('a');
    await one.roundTrip();
    assert.equal(await refusalOf(other, 'b'), undefined);
    assert.equal((await refusalOf(one, 'a'))?.type, 'error');
    other.close();
    await other.expectClose();
    assert.equal(await refusalOf(one, 'a'), undefined);
  });

  it('starts any number of operations of a user without the limit (twin of S-64)', async (t) => {
    const { url, gateway } = await startBareGateway(t, {
      authenticate: identity,
      runtime: { findPrepared: () => anyOperation(), subscribe: () => Promise.resolve({ channels: ['channel'] }) },
      hub: { join: () => Promise.resolve(() => undefined) },
    });
    for (let i = 0; i < 3; i++) {
      const socket = await openSocket(t, url);
      await socket.init({ sub: 'ida' });
      for (let id = 0; id < 100; id++) socket.subscribe(`${id}`, 'subscription { a }');
      assert.deepEqual(await socket.roundTrip(), []);
    }
    assert.equal(gateway.connections.operationCount, 300);
  });

  it('closes connections of an address past the limit with 1013, before they are authenticated (S-22)', async (t) => {
    const { url, refusals, gateway } = await startBareGateway(t, { maxConnectionsPerAddress: 2 });
    const first = await openSocket(t, url);
    await openSocket(t, url);
    const refused = await openSocket(t, url);
    assert.equal((await refused.expectClose()).code, 1013);
    assert.deepEqual(refusals, ['address']);
    first.close();
    await first.expectClose();
    await waitFor('the place of the first', () => gateway.connections.size === 1);
    await (await openSocket(t, url)).init();
  });

  it('accepts any number of connections of an address and a user without the limits (twin of S-22)', async (t) => {
    const { url, gateway, refusals } = await startBareGateway(t, { authenticate: identity });
    for (let i = 0; i < 21; i++) await (await openSocket(t, url)).init({ sub: 'ida' });
    assert.equal(gateway.connections.size, 21);
    assert.deepEqual(refusals, []);
  });
});
