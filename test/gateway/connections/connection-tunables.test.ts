import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../../src/config/config.ts';
import { connectionLimits, userLimits } from '../../../src/gateway/connections/connection-tunables.ts';
import { pickTunables } from '../../../src/ops/tunables/tunable-values.ts';

function limitsWith(settings: Readonly<Record<string, string>>) {
  const config = readConfig(settings);
  const values = pickTunables(config);
  const services = { config, tunables: { values, bind: () => undefined } };
  return { values, connection: connectionLimits(services), user: userLimits(services) };
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

  it('leave a connection four times MAX_MESSAGE_BYTES', () => {
    assert.equal(limitsWith({ MAX_MESSAGE_BYTES: '1048576' }).connection.maxHeldBytes, 4_194_304);
  });
});
