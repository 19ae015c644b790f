import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CommandEnvironment } from '../../../src/tools/environment.ts';
import { nextCommands } from '../../../src/tools/init/next-commands.ts';

const live = (given: CommandEnvironment, hasSchema = false) =>
  nextCommands('live', 'subscription { order }', hasSchema, given).live;

describe('the command that serves a new topic', () => {
  it('has the addresses of servers beside the project where nothing gives others', () => {
    const start = 'npx --no-install crier start live';
    const local = 'KAFKA_BROKERS=localhost:9092 REDIS_URL=redis://localhost:6379 ';
    assert.equal(live({ environment: {}, fromFile: [] }), `${local}${start}`);
    assert.equal(
      live({ environment: {}, fromFile: [] }, true),
      `${local}SCHEMA_REGISTRY_URL=http://localhost:8081 ${start}`,
    );
  });

  it('does not override what the file .env has', () => {
    const environment = { KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis' };
    assert.equal(live({ environment, fromFile: ['KAFKA_BROKERS', 'REDIS_URL'] }), 'npx --no-install crier start live');
    assert.equal(
      live({ environment: { KAFKA_BROKERS: 'kafka:9092' }, fromFile: ['KAFKA_BROKERS', 'REDIS_URL_FILE'] }),
      'npx --no-install crier start live',
    );
  });

  it('repeats what the environment has, without a password', () => {
    const environment = { KAFKA_BROKERS: '127.0.0.1:19092', REDIS_URL: 'redis://:secret@redis' };
    assert.equal(
      live({ environment, fromFile: [] }),
      'KAFKA_BROKERS=127.0.0.1:19092 npx --no-install crier start live',
    );
  });
});
