import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { parseSettings } from '../../src/config/settings.ts';
import { environmentInput } from '../../src/config/environment.ts';
import { processesOf, shareOf } from '../../src/config/processes.ts';
import { configRefusal } from '../support/config-refusal.ts';

const SERVERS = { REDIS_URL: 'redis://127.0.0.1:1', KAFKA_BROKERS: '127.0.0.1:2' };

describe('PROCESSES', () => {
  it('is refused without Redis, over which the processes meet', () => {
    assert.match(
      configRefusal({ PROCESSES: '2' }),
      /^PROCESSES: expected 1 without REDIS_URL, got 2: .*; set REDIS_URL/,
    );
  });

  it('is refused with ROLE=worker', () => {
    const message = configRefusal({ ...SERVERS, ROLE: 'worker', PROCESSES: '2' });
    assert.match(message, /^PROCESSES: expected 1 with ROLE=worker, got 2/);
  });

  it('is refused if it is no number of processes', () => {
    for (const value of ['0', '65', 'two', '1.5'])
      assert.match(configRefusal({ PROCESSES: value }), /^PROCESSES: expected "auto", or a whole number, 1 to 64, got/);
  });

  it('is 1 by default', () => {
    assert.deepEqual([readConfig({}).PROCESSES, readConfig(SERVERS).PROCESSES], [1, 1]);
  });

  it('is the cores of the pod if it is auto, where a pod can have several processes', () => {
    const countOf = (environment: Record<string, string>) => {
      const input = environmentInput({ ...environment, PROCESSES: 'auto' });
      return processesOf(parseSettings(input, []), input, () => 6).PROCESSES;
    };
    assert.deepEqual(
      [{}, SERVERS, { ...SERVERS, ROLE: 'gateway' }, { ...SERVERS, ROLE: 'worker' }].map(countOf),
      [1, 6, 6, 1],
    );
  });

  it('divides the limits of a pod; none stays none', () => {
    const shares = [0, 1, 100, 101].map((limit) => shareOf(limit, { PROCESSES: 4 }));
    assert.deepEqual(shares, [0, 1, 25, 26]);
  });
});
