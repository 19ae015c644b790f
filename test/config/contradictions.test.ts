import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { configRefusal } from '../support/config-refusal.ts';

describe('readConfig, of two bounds', () => {
  const cases: readonly (readonly [name: string, value: string, other: string, limit: string, expected: string])[] = [
    ['MAX_QUEUE_BYTES', '4097', 'MAX_POD_QUEUE_BYTES', '4096', 'no more'],
    ['EXECUTION_TIMEOUT_MS', '999', 'BACKEND_TIMEOUT_MS', '1000', 'no less'],
  ];
  for (const [name, value, other, limit, expected] of cases) {
    it(`refuses a value of ${name} that ${other} excludes`, () => {
      const message = `${name}: expected ${expected} than ${other} (${limit}), got ${value}`;
      assert.equal(configRefusal({ [name]: value, [other]: limit }), message);
    });

    it(`accepts a value of ${name} that equals ${other}`, () => {
      assert.doesNotThrow(() => readConfig({ [name]: limit, [other]: limit }));
    });
  }
});

describe('readConfig, of the two ports', () => {
  it('refuses one port for both, on one address or on all', () => {
    const message = 'PORT and ADMIN_PORT: expected two ports, got 4001 for both; set one to another';
    assert.equal(configRefusal({ PORT: '4001' }), message);
    assert.equal(configRefusal({ PORT: '4001', HOST: '127.0.0.1', ADMIN_HOST: '127.0.0.1' }), message);
  });

  it('accepts it on two addresses, for a worker, and 0', () => {
    const worker = { ROLE: 'worker', KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis' };
    for (const settings of [
      { PORT: '4001', HOST: '127.0.0.2' },
      { PORT: '4001', ...worker },
      { PORT: '0', ADMIN_PORT: '0' },
    ])
      assert.doesNotThrow(() => readConfig(settings));
  });
});

describe('readConfig, of KAFKA_BROKERS', () => {
  it('refuses a broker with a user, and does not show it', () => {
    assert.equal(
      configRefusal({ KAFKA_BROKERS: 'sEcReT@kafka:9092', REDIS_URL: 'redis://redis' }),
      'KAFKA_BROKERS: expected host:port, separated by commas, got a value that may hold a password and is not shown',
    );
  });
});
