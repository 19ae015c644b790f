import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { stage } from '../identity/stage.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A crier that accepts one connection of each address. */
async function startWithLimit(t: TestContext, settings: Readonly<Record<string, string>>) {
  const { connect, log } = await stage(t, { AUTH: 'optional', MAX_CONNECTIONS_PER_ADDRESS: '1', ...settings });
  /** True if it accepts a connection whose handshake has this header. */
  const isAccepted = async (forwardedFor?: string) => {
    const socket = await connect(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor });
    socket.send({ type: 'connection_init' });
    return socket.next().then(
      () => true,
      () => false,
    );
  };
  const warned = (text: string) => waitFor(text, () => log.some((line) => line.includes(text)));
  return { isAccepted, warned, log };
}

describe('a running crier with a limit for each address', () => {
  it('counts the clients of a trusted proxy apart, and those of one IPv6 network together', async (t) => {
    const { isAccepted, log } = await startWithLimit(t, { TRUSTED_PROXIES: '127.0.0.0/8' });
    assert.ok(await isAccepted('192.0.2.1'));
    assert.ok(await isAccepted('192.0.2.1, 192.0.2.2:4711'));
    assert.ok(!(await isAccepted('::ffff:192.0.2.1')));
    assert.ok(await isAccepted('2001:db8::1'));
    assert.ok(!(await isAccepted('[2001:db8::2]:4711')));
    assert.ok(await isAccepted('2001:db8:0:1::1'));
    assert.doesNotMatch(log.join(''), /X-Forwarded-For/);
  });

  it('says when a trusted proxy does not name its clients, which then count as one', async (t) => {
    const { isAccepted, warned } = await startWithLimit(t, { TRUSTED_PROXIES: '127.0.0.1' });
    assert.ok(await isAccepted());
    await warned('a proxy of TRUSTED_PROXIES sent no X-Forwarded-For');
    assert.ok(!(await isAccepted('unknown')));
    await warned('a proxy of TRUSTED_PROXIES wrote no address into X-Forwarded-For');
  });

  it('believes no other peer, and says how a load balancer is named (S-10)', async (t) => {
    const { isAccepted, warned } = await startWithLimit(t, { TRUSTED_PROXIES: '192.0.2.0/24' });
    assert.ok(await isAccepted('192.0.2.1'));
    assert.ok(!(await isAccepted('192.0.2.2')), 'with a trusted peer it is accepted: the first test');
    await warned('name it in TRUSTED_PROXIES');
  });
});
