import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig, readSettings } from '../../src/config/config.ts';
import { removedSettings } from '../../src/config/removed-settings.ts';
import { configRefusal } from '../support/config-refusal.ts';

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
  MAX_REQUESTS_PER_SECOND_PER_USER: 100,
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

  for (const [inFlight, rate] of [
    ['0', 100],
    ['20', 100],
    ['1000', 100],
    ['5000', 500],
  ] as const)
    it(`allow a user ${rate} requests a second with MAX_REQUESTS_IN_FLIGHT=${inFlight}, and refuse a start with another rate`, () => {
      const settings = { MAX_REQUESTS_IN_FLIGHT: inFlight };
      assert.equal(readConfig(settings).MAX_REQUESTS_PER_SECOND_PER_USER, rate);
      for (const other of ['0', '5', '1000'])
        assert.equal(
          configRefusal({ ...settings, MAX_REQUESTS_PER_SECOND_PER_USER: other }),
          'MAX_REQUESTS_PER_SECOND_PER_USER is no longer a setting: its value follows from MAX_REQUESTS_IN_FLIGHT (a tenth of it, at least 100; none for ROUTERS): unset it, and set MAX_REQUESTS_IN_FLIGHT to change it',
        );
      const { unknownVariables } = readConfig({ ...settings, MAX_REQUESTS_PER_SECOND_PER_USER: `${rate}` });
      assert.equal(unknownVariables.length, 1);
    });

  it('leave time to fetch the keys of tokens with a short INIT_TIMEOUT_MS', () => {
    assert.equal(readConfig({ INIT_TIMEOUT_MS: '1000' }).AUTHENTICATION_TIMEOUT_MS, 5000);
  });

  it('refuse no start by a value that a former version has taken, and that turns nothing off', () => {
    const names = [...removedSettings.keys()].filter(
      (name) => !/^SCHEMA_REGISTRY_(USER|PASSWORD)|^JWT_COOKIE$/.test(name),
    );
    const kept: Readonly<Record<string, string>> = { AST_LOCATIONS: 'off', MAX_REQUESTS_PER_SECOND_PER_USER: '100' };
    const environment = Object.fromEntries(names.map((name) => [name, kept[name] ?? '1']));
    assert.equal(readConfig(environment).unknownVariables.length, names.length);
  });

  const off: readonly (readonly [name: string, value: string, technique: string])[] = [
    ['SHARING', 'false', 'sharing'],
    ['SHARING', 'off', 'sharing'],
    ['PROJECTION', 'off', 'projection'],
    ['KEY_REWRITER', 'false', 'key-rewriter'],
    ['WRITE_BATCHING', 'off', 'write-batching'],
    ['AST_LOCATIONS', 'true', 'compact-ast'],
    ['AST_LOCATIONS', 'on', 'compact-ast'],
    ['JIT_AFTER_USES', '0', 'jit'],
    ['DOCUMENT_CACHE_ENTRIES', '0', 'document-cache'],
    ['FLOW_TARGET_MS', '00', 'flow-control'],
    ['BACKEND_BREAKER_COOLDOWN_MS', '0', 'circuit-breaker'],
    ['MAX_LOOP_LAG_MS', '0', 'loop-lag'],
    ['UNDECODABLE_LIMIT', '0', 'undecodable-limit'],
  ];
  for (const [name, value, technique] of off) {
    it(`refuse a start with ${name}=${value}, unless DISABLE has ${technique}`, () => {
      assert.equal(
        configRefusal({ [name]: value }),
        `${name}=${value} is no longer a setting, and has no effect: set DISABLE=${technique}`,
      );
      const { unknownVariables } = readConfig({ [name]: value, DISABLE: `jit, ${technique}` });
      assert.equal(unknownVariables.length, 1);
    });
  }

  for (const name of ['SCHEMA_REGISTRY_USER', 'SCHEMA_REGISTRY_PASSWORD', 'SCHEMA_REGISTRY_PASSWORD_FILE']) {
    it(`refuse a start with ${name}, without which requests have no credentials`, () => {
      const url = name.endsWith('_FILE') ? 'SCHEMA_REGISTRY_URL_FILE' : 'SCHEMA_REGISTRY_URL';
      const message = `${name} is no longer a setting: ${url} has it (https://user:password@registry, percent-encoded); unset it`;
      assert.equal(configRefusal({ [name]: 'x', SCHEMA_REGISTRY_URL: 'https://registry' }), message);
      assert.throws(() => readSettings({ [name]: 'x' }), { message });
    });
  }

  it('refuse a start with JWT_COOKIE, without which clients have no token', () => {
    const message = 'JWT_COOKIE is no longer a setting: JWT_LOCATIONS has it (cookie:<name>); unset it';
    assert.equal(configRefusal({ JWT_COOKIE: 'session', JWT_SECRET: 'x'.repeat(32) }), message);
  });
});
