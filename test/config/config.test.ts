import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { backendVariable } from '../../src/config/backend-settings.ts';
import { variables } from '../../src/config/variables.ts';
import { configRefusal } from '../support/config-refusal.ts';

describe('readConfig', () => {
  it('runs embedded with all defaults in an empty environment', () => {
    const config = readConfig({});
    assert.equal(config.isEmbedded, true);
    assert.equal(config.SHARING_AUDIT, 0.1);
    assert.equal(config.ROLE, 'all');
    assert.equal(config.PORT, 4000);
    assert.equal(config.MAX_QUEUE_BYTES, 1_048_576);
  });

  it('parses every default with its own schema', () => {
    for (const [name, { default: fallback }] of Object.entries(variables)) {
      assert.doesNotThrow(() => readConfig({ [name]: fallback }), name);
    }
  });

  it('treats an empty variable as not set', () => {
    assert.equal(readConfig({ PORT: '' }).PORT, 4000);
  });

  it('reads lists without blanks and empty items', () => {
    const config = readConfig({ KAFKA_BROKERS: 'a:1, b:2,,', REDIS_URL: 'redis://c:3' });
    assert.deepEqual(config.KAFKA_BROKERS, ['a:1', 'b:2']);
    assert.equal(config.isEmbedded, false);
    assert.equal(config.SHARING_AUDIT, 0);
  });

  it('reports all refused variables at once, each with its value and the expectation', () => {
    const message = configRefusal({ PORT: 'http', ROLE: 'both', MAX_QUEUE_BYTES: '-1' });
    assert.match(message, /^PORT: expected a port, 0 to 65535, got "http"$/m);
    assert.match(message, /^ROLE: expected "all", "worker" or "gateway", got "both"$/m);
    assert.match(message, /^MAX_QUEUE_BYTES: expected .*, got "-1"$/m);
  });

  for (const value of ['1.5', '1e3', '0x10', ' 4', '99999999999999999999', 'NaN', '-0']) {
    it(`refuses ${JSON.stringify(value)} as a number`, () => {
      assert.match(configRefusal({ MAX_RECORD_BYTES: value }), /MAX_RECORD_BYTES/);
    });
  }

  for (const [name, { unit }] of Object.entries(variables)) {
    if (unit !== 'ms') continue;
    it(`refuses a ${name} past the limit of timers`, () => {
      assert.match(configRefusal({ [name]: '2147483648' }), new RegExp(`^${name}: expected .*, at most 86400000`, 'm'));
    });
  }

  it('refuses a role without the servers it needs', () => {
    assert.match(configRefusal({ ROLE: 'worker', KAFKA_BROKERS: 'a:1' }), /REDIS_URL.*ROLE=worker/);
    assert.match(configRefusal({ ROLE: 'worker', REDIS_URL: 'redis://a' }), /KAFKA_BROKERS.*ROLE=worker/);
    assert.match(configRefusal({ ROLE: 'gateway' }), /REDIS_URL.*ROLE=gateway/);
    assert.match(configRefusal({ REDIS_URL: 'redis://a' }), /KAFKA_BROKERS/);
  });

  const modes: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [
      { NODE_ENV: 'production' },
      /^KAFKA_BROKERS and REDIS_URL: expected with NODE_ENV=production, got neither; set both, or EMBEDDED=true/,
    ],
    [{ EMBEDDED: 'false' }, /^KAFKA_BROKERS and REDIS_URL: expected with EMBEDDED=false, got neither; set both, or/],
    [
      { EMBEDDED: 'true', KAFKA_BROKERS: 'a:1', REDIS_URL: 'redis://a' },
      /^EMBEDDED=true contradicts KAFKA_BROKERS and REDIS_URL: .*; unset EMBEDDED .*, or unset KAFKA_BROKERS and REDIS_URL$/,
    ],
    [{ EMBEDDED: 'on', KAFKA_BROKERS: 'a:1' }, /^EMBEDDED=true contradicts KAFKA_BROKERS: .*, or unset KAFKA_BROKERS$/],
    [{ EMBEDDED: 'true', REDIS_URL: 'redis://a' }, /^EMBEDDED=true contradicts REDIS_URL: .*, or unset REDIS_URL$/],
    [{ EMBEDDED: 'true', ROLE: 'worker' }, /^EMBEDDED=true contradicts ROLE=worker: .*, or unset ROLE$/],
    [{ EMBEDDED: 'true', ROLE: 'gateway' }, /^EMBEDDED=true contradicts ROLE=gateway: .*, or unset ROLE$/],
    [{ KAFKA_BROKERS: 'a:1' }, /^REDIS_URL: expected a Redis with ROLE=all, got none: .* meet only at Redis$/],
    [{ KAFKA_BROKERS: 'a:1', ROLE: 'worker' }, /^REDIS_URL: .* ROLE=worker, got none: .* meet only at Redis$/],
    [{ KAFKA_BROKERS: 'a:1', ROLE: 'gateway' }, /^REDIS_URL: expected a Redis with ROLE=gateway, got none$/],
    [{ REDIS_URL: 'redis://a' }, /^KAFKA_BROKERS: expected brokers where REDIS_URL is set, .*ROLE=gateway needs none/],
    [{ REDIS_URL: 'redis://a', ROLE: 'worker' }, /^KAFKA_BROKERS: expected brokers with ROLE=worker, got none$/],
    [{ EMBEDDED: 'maybe' }, /^EMBEDDED: expected "true", "false", "on" or "off", got "maybe"$/],
  ];
  for (const [environment, expected] of modes) {
    it(`refuses ${JSON.stringify(environment)} with one line that names the fix`, () => {
      const message = configRefusal(environment);
      assert.match(message, expected);
      assert.doesNotMatch(message, /\n/);
    });
  }

  it('names the misspelt variable beside the one that is missing', () => {
    assert.equal(
      configRefusal({ KAFKA_BROKER: 'a:1', REDIS_URL: 'redis://a' }),
      'KAFKA_BROKERS: expected brokers where REDIS_URL is set, got none (ROLE=gateway needs none)\n' +
        'KAFKA_BROKER is not a setting; did you mean "KAFKA_BROKERS"?',
    );
  });

  it('refuses SASL credentials that no mechanism uses', () => {
    const servers = { KAFKA_BROKERS: 'a:1', REDIS_URL: 'redis://a' };
    for (const [name, value] of [
      ['KAFKA_SASL_USERNAME', 'me'],
      ['KAFKA_SASL_PASSWORD', 'hunter2'],
    ] as const) {
      assert.equal(
        configRefusal({ ...servers, [name]: value }),
        `KAFKA_SASL_MECHANISM: expected plain, scram-sha-256, scram-sha-512 or oauthbearer with ${name}, got none`,
      );
    }
  });

  for (const environment of [{}, { EMBEDDED: 'true' }, { NODE_ENV: 'production', EMBEDDED: 'true' }]) {
    it(`runs embedded with ${JSON.stringify(environment)}`, () => {
      assert.equal(readConfig(environment).isEmbedded, true);
    });
  }

  for (const environment of [{}, { EMBEDDED: 'false' }, { NODE_ENV: 'production' }]) {
    it(`uses Kafka and Redis with ${JSON.stringify(environment)} where both are named`, () => {
      assert.equal(readConfig({ ...environment, KAFKA_BROKERS: 'a:1', REDIS_URL: 'redis://a' }).isEmbedded, false);
    });
  }

  it('refuses malformed addresses', () => {
    assert.match(
      configRefusal({ KAFKA_BROKERS: 'kafka', REDIS_URL: 'redis://a' }),
      /KAFKA_BROKERS: expected host:port.*"kafka"/,
    );
    assert.match(
      configRefusal({ KAFKA_BROKERS: 'a:1', REDIS_URL: 'localhost:6379' }),
      /REDIS_URL: expected redis:\/\//,
    );
    assert.match(configRefusal({ BACKEND_UAA_URL: 'ftp://uaa' }), /BACKEND_UAA_URL: expected an http/);
  });

  it('turns GraphiQL and introspection off in production, unless they are asked for', () => {
    const of = (environment: Readonly<Record<string, string>>) => {
      const { GRAPHIQL, INTROSPECTION } = readConfig({ EMBEDDED: 'true', ...environment });
      return [GRAPHIQL, INTROSPECTION];
    };
    assert.deepEqual(of({}), [true, true]);
    assert.deepEqual(of({ NODE_ENV: 'production' }), [false, false]);
    assert.deepEqual(of({ NODE_ENV: 'production', GRAPHIQL: 'true', INTROSPECTION: 'on' }), [true, true]);
    assert.deepEqual(of({ INTROSPECTION: 'false' }), [true, false]);
  });

  it('refuses what is no origin and what is no range of addresses', () => {
    assert.match(configRefusal({ ALLOWED_ORIGINS: 'app.example.com' }), /^ALLOWED_ORIGINS: expected origins such as/);
    assert.match(
      configRefusal({ PUBLIC_ORIGIN: 'https://api.example.com/' }),
      /^PUBLIC_ORIGIN: expected an origin such as/,
    );
    assert.match(configRefusal({ TRUSTED_PROXIES: '10.0.0.0/33' }), /^TRUSTED_PROXIES: expected addresses or ranges/);
  });

  it('never repeats a password', () => {
    const message = configRefusal({ KAFKA_SASL_MECHANISM: 'md5', KAFKA_SASL_PASSWORD: 'hunter2', PORT: 'x' });
    assert.doesNotMatch(message, /hunter2/);
    assert.doesNotMatch(configRefusal({ KAFKA_BROKERS: 'a:1', REDIS_URL: 'http://me:hunter2@redis' }), /hunter2/);
  });

  it('reads a fraction from 0 to 1', () => {
    for (const value of ['0', '1', '0.01', '.5', '0.0']) {
      assert.equal(readConfig({ SHARING_AUDIT: value }).SHARING_AUDIT, Number(value));
    }
    for (const value of ['1.1', '-1', 'x', '1e-3', '.']) {
      assert.throws(() => readConfig({ SHARING_AUDIT: value }), /SHARING_AUDIT: expected a number from 0 to 1/);
    }
  });

  it('reads the techniques that are off, in any order', () => {
    const { SHARING, JIT_AFTER_USES, PROJECTION } = readConfig({ DISABLE: 'jit, sharing' });
    assert.deepEqual([SHARING, JIT_AFTER_USES, PROJECTION], [false, 0, true]);
    assert.match(
      configRefusal({ DISABLE: 'sharing,projections' }),
      /^DISABLE: expected words of sharing, projection, .*, separated by commas, got "sharing,projections"$/,
    );
  });

  it('reads an on/off setting as true or on, false or off', () => {
    for (const value of ['true', 'on']) assert.equal(readConfig({ KAFKA_TLS: value }).KAFKA_TLS, true);
    for (const value of ['false', 'off']) assert.equal(readConfig({ INTROSPECTION: value }).INTROSPECTION, false);
    for (const value of ['1', 'yes', 'On', 'TRUE', ' on']) {
      assert.throws(
        () => readConfig({ INTROSPECTION: value }),
        /INTROSPECTION: expected "true", "false", "on" or "off", got/,
      );
    }
  });

  it('reads whether a backend gets the Authorization header as any other on/off setting', () => {
    const read = (value: string) =>
      readConfig({ BACKEND_UAA_URL: 'http://uaa', BACKEND_UAA_FORWARD_AUTHORIZATION: value }).backends.get('UAA');
    assert.deepEqual(read('on')?.forwardedHeaders, ['authorization']);
    assert.deepEqual(read('off')?.forwardedHeaders, []);
    assert.throws(() => read('yes'), /BACKEND_UAA_FORWARD_AUTHORIZATION: expected "true", "false", "on" or "off"/);
  });

  it('reads the names of the headers that a backend gets, each once and in lower case, and none by default', () => {
    const read = (names: string, authorization = '') =>
      readConfig({
        BACKEND_UAA_URL: 'http://uaa',
        BACKEND_UAA_FORWARD_HEADERS: names,
        BACKEND_UAA_FORWARD_AUTHORIZATION: authorization,
      }).backends.get('UAA')?.forwardedHeaders;
    assert.deepEqual(read(''), []);
    assert.deepEqual(read('Accept-Language, x-region,,X-Region'), ['accept-language', 'x-region']);
    assert.deepEqual(read('cookie', 'true'), ['authorization', 'cookie']);
  });

  it('refuses a header that a backend must not get, with the backend, the header and what to do', () => {
    const refused = (names: string) =>
      configRefusal({ BACKEND_UAA_URL: 'http://uaa', BACKEND_UAA_FORWARD_HEADERS: names });
    for (const name of [
      'Host',
      'connection',
      'keep-alive',
      'te',
      'trailer',
      'transfer-encoding',
      'upgrade',
      'proxy-authorization',
      'content-length',
      'content-type',
      'accept',
      'accept-encoding',
      'expect',
      'range',
      'if-none-match',
      'http2-settings',
      'sec-websocket-key',
    ]) {
      assert.equal(
        refused(`x-region, ${name}`),
        `BACKEND_UAA_FORWARD_HEADERS: "${name.toLowerCase()}" belongs to the caller's own request and is never forwarded; remove it`,
      );
    }
    assert.match(refused('Authorization'), /has a setting of its own.*BACKEND_UAA_FORWARD_AUTHORIZATION=true/);
    for (const name of [
      'forwarded',
      'X-Forwarded-For',
      'x-real-ip',
      'x-client-ip',
      'x-cluster-client-ip',
      'x-original-forwarded-for',
      'True-Client-IP',
      'CF-Connecting-IP',
    ]) {
      assert.match(refused(name), /whatever a client writes.*context\.connection\.address.*TRUSTED_PROXIES/);
    }
    for (const names of ['x region', 'x-a: b', '*', 'x-*', 'x-ä', 'x-a\r\nx-b', '"x-a"']) {
      assert.match(refused(names), /expected names of headers, separated by commas, got/);
    }
  });

  it('reads backends by their name in the environment', () => {
    assert.equal(backendVariable('consumerListingIntake'), 'CONSUMER_LISTING_INTAKE');
    const { backends } = readConfig({
      BACKEND_CONSUMER_LISTING_INTAKE_URL: 'http://intake:8080/v1',
      BACKEND_CONSUMER_LISTING_INTAKE_FORWARD_AUTHORIZATION: 'true',
      BACKEND_UAA_URL: 'https://uaa',
    });
    assert.deepEqual(backends.get('CONSUMER_LISTING_INTAKE'), {
      url: 'http://intake:8080/v1',
      forwardedHeaders: ['authorization'],
    });
    assert.deepEqual(backends.get('UAA'), { url: 'https://uaa', forwardedHeaders: [] });
  });

  describe('times of the shutdown', () => {
    const BALANCED = { KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis' };
    for (const [what, settings, times] of [
      ['a pod of a fleet', BALANCED, [5000, 20_000, 40_000]],
      ['an embedded pod, which no load balancer watches', {}, [0, 0, 15_000]],
      ['an embedded pod that is told to wait', { DRAIN_DELAY_MS: '1', DRAIN_SPREAD_MS: '2' }, [1, 2, 15_003]],
      ['a worker, which has no sockets', { ...BALANCED, ROLE: 'worker', DRAIN_SPREAD_MS: '2' }, [0, 0, 15_000]],
      ['a pod with a limit of its own', { ...BALANCED, SHUTDOWN_TIMEOUT_MS: '25001' }, [5000, 20_000, 25_001]],
    ] as const) {
      it(`fit ${what}`, () => {
        const { DRAIN_DELAY_MS, DRAIN_SPREAD_MS, SHUTDOWN_TIMEOUT_MS } = readConfig(settings);
        assert.deepEqual([DRAIN_DELAY_MS, DRAIN_SPREAD_MS, SHUTDOWN_TIMEOUT_MS], times);
      });
    }

    it('are refused if the whole is not longer than its parts', () => {
      assert.throws(
        () => readConfig({ ...BALANCED, SHUTDOWN_TIMEOUT_MS: '25000' }),
        /SHUTDOWN_TIMEOUT_MS: expected more than DRAIN_DELAY_MS \(5000\) \+ DRAIN_SPREAD_MS \(20000\), got 25000/,
      );
    });
  });
});
