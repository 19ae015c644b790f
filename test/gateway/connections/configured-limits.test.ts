import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../../src/config/config.ts';
import { connectionLimits, routerLimits, userLimits } from '../../../src/gateway/connections/configured-limits.ts';
import { pickTunables } from '../../../src/ops/tunables/tunable-values.ts';

function limitsWith(settings: Readonly<Record<string, string>>) {
  const config = readConfig(settings);
  const values = pickTunables(config);
  const services = { config, tunables: { values, bind: () => undefined } };
  return { values, connection: connectionLimits(services), router: routerLimits(services), user: userLimits(services) };
}

describe('the limits of operations', () => {
  it('are by default 1000 operations of a user, and 1 MiB of a connection', () => {
    const { connection, user } = limitsWith({});
    assert.deepEqual([user.maxOperations, connection.maxHeldBytes], [1000, 1_048_576]);
  });

  it('follow MAX_OPERATIONS_PER_CONNECTION while the server runs', () => {
    const { values, connection, user } = limitsWith({ MAX_OPERATIONS_PER_CONNECTION: '5' });
    assert.deepEqual([user.maxOperations, connection.maxHeldBytes], [50, 1_048_576]);
    values.MAX_OPERATIONS_PER_CONNECTION = 5000;
    assert.deepEqual([user.maxOperations, connection.maxHeldBytes], [50_000, 51_200_000]);
  });

  it('are for a router 100 times those of a connection, without an age', () => {
    const { values, connection, router } = limitsWith({
      MAX_OPERATIONS_PER_CONNECTION: '7',
      MAX_CONNECTION_AGE_MS: '60000',
    });
    values.MAX_OPERATIONS_PER_CONNECTION = 300;
    const times = (n: number) => ({
      maxOperations: n * 300,
      maxMessagesPerSecond: n * 20,
      maxMessageBurst: n * 150,
      maxHeldBytes: n * 3_072_000,
      maxQueueBytes: n * 1_048_576,
      documentShare: n,
    });
    assert.deepEqual({ ...connection }, { ...router, ...times(1), maxReceivedBytes: 262_144, maxAgeMs: 60_000 });
    assert.deepEqual({ ...router }, { ...connection, ...times(100), maxReceivedBytes: 6_553_600, maxAgeMs: 0 });
  });

  it('leave a connection four times MAX_MESSAGE_BYTES', () => {
    assert.equal(limitsWith({ MAX_MESSAGE_BYTES: '1048576' }).connection.maxHeldBytes, 4_194_304);
  });
});
