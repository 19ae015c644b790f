import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { removedSettings } from '../../src/config/removed-settings.ts';

/** The defaults of the settings of former versions. */
const FORMER = {
  MAX_VARIABLES_BYTES: 16_384,
  MAX_VARIABLES_VALUES: 1000,
  MAX_CHANNEL_BYTES: 4096,
  MAX_QUERY_ALIASES: 15,
  MAX_QUERY_DIRECTIVES: 50,
  INVALID_DOCUMENT_CACHE_ENTRIES: 100,
  MAX_MESSAGE_BURST: 150,
  MAX_INFLATED_BATCH_BYTES: 67_108_864,
  SHARING: true,
  PROJECTION: true,
  KEY_REWRITER: true,
  WRITE_BATCHING: true,
  AST_LOCATIONS: false,
  JIT_AFTER_USES: 3,
  DOCUMENT_CACHE_ENTRIES: 1000,
  FLOW_TARGET_MS: 400,
  BACKEND_BREAKER_COOLDOWN_MS: 5000,
  MAX_LOOP_LAG_MS: 1000,
  UNDECODABLE_LIMIT: 100,
  KAFKA_TOPIC_CHECK_INTERVAL_MS: 10_000,
  KAFKA_STALL_TIMEOUT_MS: 30_000,
  SCHEMA_REGISTRY_TIMEOUT_MS: 3000,
  JWT_CLOCK_TOLERANCE_MS: 60_000,
  MAX_PENDING_EVENTS: 1000,
  AUTHENTICATION_TIMEOUT_MS: 5000,
  MAX_INIT_BYTES: 8192,
  MAX_CONNECTION_BYTES: 1_048_576,
  MAX_REQUESTS_IN_FLIGHT_PER_USER: 100,
  MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS: 0,
};

describe('the limits that are no settings', () => {
  it('are by default what they were as settings', () => {
    const config = readConfig({});
    for (const [name, value] of Object.entries(FORMER)) assert.equal(config[name as keyof typeof FORMER], value, name);
  });

  it('follow from settings, and none falls below its default with a smaller MAX_MESSAGE_BYTES', () => {
    const large = readConfig({
      MAX_MESSAGE_BYTES: '1048576',
      MAX_MESSAGES_PER_SECOND: '1',
      DISABLE: 'document-cache',
    });
    assert.equal(large.MAX_QUERY_LENGTH, 262_144);
    assert.equal(large.MAX_VARIABLES_BYTES, 262_144);
    assert.equal(large.MAX_VARIABLES_VALUES, 16_000);
    assert.equal(large.MAX_CHANNEL_BYTES, 65_536);
    assert.equal(large.MAX_MESSAGE_BURST, 8);
    assert.equal(large.INVALID_DOCUMENT_CACHE_ENTRIES, 0);
    assert.equal(large.MAX_INIT_BYTES, 8192);
    assert.equal(large.MAX_CONNECTION_BYTES, 4_194_304);
    const small = readConfig({ MAX_MESSAGE_BYTES: '1024' });
    assert.deepEqual([small.MAX_QUERY_LENGTH, small.MAX_CHANNEL_BYTES], [16_384, 4096]);
    assert.deepEqual([small.MAX_INIT_BYTES, small.MAX_CONNECTION_BYTES], [8192, 1_048_576]);
    const ofRouter = readConfig({
      INIT_TIMEOUT_MS: '9000',
      MAX_REQUESTS_IN_FLIGHT: '55',
      MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1',
    });
    assert.equal(ofRouter.AUTHENTICATION_TIMEOUT_MS, 9000);
    assert.deepEqual([ofRouter.MAX_REQUESTS_IN_FLIGHT_PER_USER, ofRouter.MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS], [6, 6]);
  });

  it('limit a user and an address also without MAX_REQUESTS_IN_FLIGHT', () => {
    const config = readConfig({ MAX_REQUESTS_IN_FLIGHT: '0', MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1' });
    assert.deepEqual([config.MAX_REQUESTS_IN_FLIGHT_PER_USER, config.MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS], [100, 100]);
  });

  it('leave time to fetch the keys of tokens with a short INIT_TIMEOUT_MS', () => {
    assert.equal(readConfig({ INIT_TIMEOUT_MS: '1000' }).AUTHENTICATION_TIMEOUT_MS, 5000);
  });

  it('refuse no start by a value that a former version has taken', () => {
    const environment = Object.fromEntries([...removedSettings.keys()].map((name) => [name, '0']));
    assert.equal(readConfig(environment).unknownVariables.length, removedSettings.size);
  });
});
