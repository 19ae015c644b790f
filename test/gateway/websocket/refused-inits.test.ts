import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { RequestSource } from '../../../src/graph/context/connection-facts.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectGarbage } from '../../../src/ops/memory/collect-garbage.ts';
import { openSocket } from '../../support/socket.ts';
import { startBareGateway } from './bare-gateway.ts';
import type { BareGatewayOptions } from './bare-gateway.ts';

/** Refuses each init. The parameter `sub` is whom the token names. */
const authenticate = ({ params }: RequestSource) =>
  Promise.resolve({ failure: 'token_expired', subject: (params as { sub?: string }).sub });

interface Client {
  readonly address: string;
  readonly sub?: string;
}

async function stage(t: TestContext, options: BareGatewayOptions = {}) {
  const { url, gateway } = await startBareGateway(t, { authenticate, trustedProxies: ['127.0.0.1'], ...options });
  const refused = async ({ address, sub }: Client) => {
    const socket = await openSocket(t, url, { headers: { 'x-forwarded-for': address } });
    socket.send({ type: 'connection_init', payload: { sub } });
    return socket;
  };
  /** Ends the test of one client with 16 refusals: then the refusal of `other` has been sent. Returns whose refusals wait. */
  const waitingAfter = async (client: (i: number) => Client, other: Client) => {
    for (let i = 0; i < 16; i++) await (await refused(client(i))).roundTrip().catch(() => undefined);
    assert.deepEqual(await (await refused(other)).expectClose(), { code: 4403, reason: 'Token expired' });
    return [...gateway.connections].filter(({ isEnded }) => !isEnded).length;
  };
  return { waitingAfter };
}

describe('connections that are refused again and again', () => {
  const OTHER = { address: '198.51.100.1', sub: 'ben' };

  it('of one address wait longer each time, and nobody else does (S-21)', async (t) => {
    const { waitingAfter } = await stage(t);
    assert.ok((await waitingAfter(() => ({ address: '203.0.113.5' }), OTHER)) > 0);
  });

  it('of one user wait longer each time, whatever the addresses, and nobody else does (S-21)', async (t) => {
    const { waitingAfter } = await stage(t);
    assert.ok((await waitingAfter((i) => ({ address: `203.0.113.${i}`, sub: 'ida' }), OTHER)) > 0);
  });

  it('keep no headers while they wait', async (t) => {
    const waiting: (() => void)[] = [];
    let headers: WeakRef<object> | undefined;
    const { url } = await startBareGateway(t, {
      authenticate: (source) => {
        headers = new WeakRef(source.rawHeaders);
        return authenticate(source);
      },
      refusalDelays: { run: (_client, _failure, refuse) => waiting.push(refuse) },
    });
    const socket = await openSocket(t, url);
    socket.send({ type: 'connection_init', payload: {} });
    await socket.roundTrip();
    await nextTurn();
    await collectGarbage();
    assert.deepEqual([waiting.length, headers!.deref()], [1, undefined]);
  });

  it('never wait without the delays (twin of S-21)', async (t) => {
    const { waitingAfter } = await stage(t, { refusalDelays: { run: (_client, _failure, refuse) => refuse() } });
    assert.equal(await waitingAfter(() => ({ address: '203.0.113.5', sub: 'ida' }), OTHER), 0);
  });
});
