import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { findUnknownBackends } from '../../src/graph/loading/unknown-backends.ts';
import { removedSettings } from '../../src/config/removed-settings.ts';
import { ENVIRONMENT_NAMES } from '../../src/config/setting-names.ts';
import { findUnknownVariables } from '../../src/config/unknown-variables.ts';
import { variables } from '../../src/config/variables.ts';

const messagesOf = (environment: Record<string, string>) =>
  findUnknownVariables(environment).map(({ message }) => message);

describe('findUnknownVariables', () => {
  const near: readonly (readonly [name: string, setting: string])[] = [
    ['MAX_QUEU_BYTES', 'MAX_QUEUE_BYTES'],
    ['KAFKA_BROKER', 'KAFKA_BROKERS'],
    ['KAFKA_BROKERs', 'KAFKA_BROKERS'],
    ['kafka_brokers', 'KAFKA_BROKERS'],
    ['REDIS_URI', 'REDIS_URL'],
    ['REDISURL', 'REDIS_URL'],
    ['REDIS_URL_FILES', 'REDIS_URL_FILE'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['ALLOWED_ORIGIN', 'ALLOWED_ORIGINS'],
    ['SHUTDOWN_TIMEOUT', 'SHUTDOWN_TIMEOUT_MS'],
    ['JWT_ISUER', 'JWT_ISSUER'],
    ['BACKEND_UAA_URl', 'BACKEND_UAA_URL'],
    ['BACKEND_UAA_URI', 'BACKEND_UAA_URL'],
    ['BACKEND_UAA_FORWARD_AUTHORISATION', 'BACKEND_UAA_FORWARD_AUTHORIZATION'],
    ['BACKEND_UAA_FORWARD_HEADER', 'BACKEND_UAA_FORWARD_HEADERS'],
  ];
  for (const [name, setting] of near) {
    it(`proposes ${setting} for ${name}`, () => {
      assert.deepEqual(findUnknownVariables({ [name]: '1' }), [
        { message: `${name} is not a setting; did you mean "${setting}"?`, isNear: true },
      ]);
    });
  }

  const others: readonly (readonly [name: string, instead: string])[] = [
    ['KAFKA_URL', 'KAFKA_BROKERS'],
    ['KAFKA_BOOTSTRAP_SERVERS', 'KAFKA_BROKERS'],
    ['KAFKA_SSL', 'KAFKA_TLS'],
    ['KAFKA_SECURITY_PROTOCOL', 'KAFKA_TLS'],
    ['KAFKA_USERNAME', 'KAFKA_SASL_USERNAME'],
    ['KAFKA_PASSWORD', 'KAFKA_SASL_PASSWORD'],
    ['KAFKA_GROUP', 'KAFKA_GROUP_ID'],
    ['KAFKA_TOPIC', '@kafka(topic: "…") in schema.graphql'],
    ['REDIS_HOST', 'REDIS_URL'],
    ['REDIS_PORT', 'REDIS_URL'],
    ['REDIS_TLS', 'REDIS_URL=rediss://…'],
    ['REDIS_PASS', 'REDIS_PASSWORD'],
    ['SCHEMA_REGISTRY_HOST', 'SCHEMA_REGISTRY_URL'],
  ];
  for (const [name, instead] of others) {
    it(`names ${instead} for ${name}, as other programs call it, which is no reason to fail`, () => {
      assert.deepEqual(findUnknownVariables({ [name]: '1' }), [
        { message: `${name} is not a setting; write ${instead} instead`, isNear: false },
      ]);
    });
  }

  it('says nothing of names that many programs have, without a prefix of crier', () => {
    assert.deepEqual(messagesOf({ CORS_ORIGIN: '*', HTTP_PORT: '1', METRICS_PORT: '2' }), []);
  });

  const ours = [
    'KAFKA_HEAP_OPTS',
    'MAX_RETRIES_OF_THE_GRAPH',
    'BACKEND_URLS',
    'DRAIN_SECONDS',
    'SCHEMA_REGISTRY_VERSION',
  ];
  for (const name of ours) {
    it(`names ${name}, which begins as settings do`, () => {
      assert.deepEqual(findUnknownVariables({ [name]: '1' }), [
        { message: `${name} is not a setting; crier settings lists them`, isNear: false },
      ]);
    });
  }

  it('names the setting in capitals, also where the name is short, and what has the credentials of the schema registry', () => {
    assert.deepEqual(messagesOf({ port: '5000', SCHEMA_REGISTRY_BASIC_AUTH: 'u:p' }), [
      'port is not a setting; write PORT',
      'SCHEMA_REGISTRY_BASIC_AUTH is not a setting; write SCHEMA_REGISTRY_URL=https://user:password@…, percent-encoded, instead',
    ]);
  });

  it('names the constant, or the setting that is to be set instead, for a setting of a former version', () => {
    assert.deepEqual(messagesOf({ FLOW_PATIENCE_MS: '9000', MAX_MESSAGE_BURST: '500', MAX_INFLATED_BATCH_BYTES: '' }), [
      'FLOW_PATIENCE_MS is no longer a setting: it is always 5000; unset it',
      'MAX_MESSAGE_BURST is no longer a setting: its value follows from MAX_MESSAGES_PER_SECOND (7.5 times that): unset it, and set MAX_MESSAGES_PER_SECOND to change it',
    ]);
  });

  it('knows no setting of a former version as a setting, and names settings only in its place', () => {
    for (const [name, fix] of removedSettings) {
      assert.ok(!(name in variables), name);
      assert.match(
        fix(ENVIRONMENT_NAMES),
        /^it is always [\d.]+; unset it$|^it is \w+, or \w+ with DISABLE=[a-z-]+; unset it$|^[A-Z_]+ has it \(.*\); unset it$|^the pods agree on .*; unset it$|^pages of ALLOWED_ORIGINS may send any header; unset it$|^its value follows from [A-Z_]+ \(.*\): unset it, and set [A-Z_]+ to change it$/,
      );
    }
  });

  it('names the header settings of a backend without a URL', () => {
    assert.deepEqual(messagesOf({ BACKEND_UAA_FORWARD_AUTHORIZATION: 'true' }), [
      'BACKEND_UAA_FORWARD_AUTHORIZATION has no effect without BACKEND_UAA_URL',
    ]);
    assert.deepEqual(messagesOf({ BACKEND_UAA_FORWARD_HEADERS: 'x-region' }), [
      'BACKEND_UAA_FORWARD_HEADERS has no effect without BACKEND_UAA_URL',
    ]);
  });

  it('accepts every setting, the files of secrets and the settings of backends', () => {
    const settings = Object.keys(variables).map((name) => [name, 'x'] as const);
    assert.deepEqual(
      messagesOf({
        ...Object.fromEntries(settings),
        REDIS_URL_FILE: '/x',
        BACKEND_UAA_URL: 'http://uaa',
        BACKEND_UAA_FORWARD_AUTHORIZATION: 'true',
        BACKEND_UAA_FORWARD_HEADERS: 'x-region',
      }),
      [],
    );
  });

  it('ignores what a graph, or another program, may well read itself', () => {
    const others = [
      'JWT_SECRET',
      'ALLOWED_HOSTS',
      'TRUSTED_PROXIES',
      'SCHEMA_VERSION',
      'ADMIN_EMAIL',
      'LOG_FORMAT_JSON',
    ];
    assert.deepEqual(messagesOf(Object.fromEntries(others.map((name) => [name, 'x']))), []);
  });

  it('ignores what Kubernetes sets for Services, OpenTelemetry, and the variables of a shell and of npm', () => {
    const services = ['KAFKA', 'REDIS', 'BACKEND_UAA', 'MAX', 'CRIER'].flatMap((name): [string, string][] => [
      [`${name}_SERVICE_HOST`, '10.0.0.11'],
      [`${name}_SERVICE_PORT`, '9092'],
      [`${name}_SERVICE_PORT_HTTP_METRICS`, '9092'],
      [`${name}_PORT`, 'tcp://10.0.0.11:9092'],
      [`${name}_PORT_9092_TCP`, 'tcp://10.0.0.11:9092'],
      [`${name}_PORT_9092_TCP_PROTO`, 'tcp'],
      [`${name}_PORT_9092_TCP_PORT`, '9092'],
      [`${name}_PORT_9092_TCP_ADDR`, '10.0.0.11'],
    ]);
    const others = ['HOME', 'HOSTNAME', 'PATH', 'USER', 'PWD', 'TERM', 'LANG', 'TZ', 'SHELL', 'SHLVL', 'EDITOR', '_'];
    others.push('NODE_ENV', 'NODE_OPTIONS', 'NODE_VERSION', 'YARN_VERSION', 'POD_IP', 'HOST_IP', 'POD_NAMESPACE', 'CI');
    others.push(
      'INIT_CWD',
      'npm_config_cache',
      'npm_package_version',
      'npm_lifecycle_event',
      'LOGNAME',
      'GRAPHVIZ_DOT',
    );
    others.push('OTEL_SERVICE_NAME', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG');
    const environment: Record<string, string> = Object.fromEntries([
      ...services,
      ...others.map((name) => [name, 'x'] as const),
    ]);
    assert.deepEqual(messagesOf(environment), []);
  });
});

describe('findUnknownBackends', () => {
  const graph = { name: 'auction', context: { backends: ['uaa', 'consumerListingIntake'] } };

  it('names a URL of a backend that the graph does not have, with the nearest one', () => {
    const config = readConfig({ BACKEND_UUA_URL: 'http://x', BACKEND_CONSUMER_LISTING_INTAKE_URL: 'http://y' });
    assert.deepEqual(
      findUnknownBackends(config, graph).map(({ message }) => message),
      ['BACKEND_UUA_URL names no backend of the graph "auction"; did you mean "BACKEND_UAA_URL"?'],
    );
  });
});
