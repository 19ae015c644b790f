import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { parseRedisUrl } from '../../src/config/addresses/redis-address.ts';
import { settingRows } from '../../src/config/setting-rows.ts';
import { tunableNames, variables } from '../../src/config/variables.ts';
import { CHART, renderChart } from '../../stack/kubernetes/chart.ts';

const read = (name: string) => readFile(join(CHART, name), 'utf8');

/** Paths of the values, down to what is no object or an empty one: `kafka.brokers`. */
function pathsOf(value: unknown, path = ''): string[] {
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  // Kubernetes' own object: its fields are not the chart's.
  if (entries.length === 0 || path.endsWith('.resources')) return [path];
  return entries.flatMap(([key, part]) => pathsOf(part, path === '' ? key : `${path}.${key}`));
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly type?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Paths of the schema's objects that name their properties and allow others. */
function openObjects(schema: Schema, path = ''): string[] {
  const isOpen = schema.properties !== undefined && schema.additionalProperties !== false;
  const nested = Object.entries(schema.properties ?? {}).flatMap(([key, part]) => openObjects(part, `${path}.${key}`));
  return [...(isOpen ? [path] : []), ...nested];
}

describe("the chart's values", { concurrency: 2 }, () => {
  it('are described in README.md, each with its default, and no other', async () => {
    const paths = pathsOf(parse(await read('values.yaml'))).sort();
    const rows = Array.from((await read('README.md')).matchAll(/^- `([a-z][\w.]*)`: ./gm), ([, path]) => path!);
    assert.deepEqual(rows.sort(), paths);
  });

  it('are typed in the schema, where each object names its properties and allows no other', async () => {
    const schema = JSON.parse(await read('values.schema.json')) as Schema;
    assert.deepEqual(openObjects(schema), []);
    for (const path of pathsOf(parse(await read('values.yaml')))) {
      let part: Schema | undefined = schema;
      for (const key of path.split('.')) part = part?.properties?.[key];
      assert.ok(part, path);
    }
  });

  it('have in tunables each setting that changes while crier runs, with its bounds, and no other', async () => {
    const schema = JSON.parse(await read('values.schema.json')) as Schema;
    const { additionalProperties, properties = {} } = schema.properties!['tunables']!;
    assert.equal(additionalProperties, false);
    assert.deepEqual(Object.keys(properties), [...tunableNames]);
    assert.deepEqual(properties['LOG_LEVEL']!.enum, variables.LOG_LEVEL.words);
    for (const name of tunableNames) {
      const { type, minimum, maximum } = properties[name]!;
      if (name === 'LOG_LEVEL') continue;
      const isAccepted = (value: number) => variables[name].parse(String(value)) !== undefined;
      const ends = [minimum! - 1, minimum!, maximum ?? Number.MAX_SAFE_INTEGER, (maximum ?? Infinity) + 1];
      assert.deepEqual(ends.map(isAccepted), [false, true, true, false], name);
      assert.equal(type, isAccepted(minimum! + 0.5) ? 'number' : 'integer', name);
    }
  });

  it('have in secrets each setting that a file holds, and no other', async () => {
    const schema = JSON.parse(await read('values.schema.json')) as Schema;
    const files = settingRows().flatMap(({ name }) => /^(\w+)_FILE$/.exec(name)?.[1] ?? []);
    const secrets = files.filter((name) => name !== 'TUNABLES');
    assert.deepEqual(Object.keys(schema.properties!['secrets']!.properties!).sort(), secrets.sort());
  });

  it('have each SASL mechanism of crier', async () => {
    const schema = JSON.parse(await read('values.schema.json')) as Schema;
    const { enum: mechanisms } = schema.properties!['kafka']!.properties!['saslMechanism']!;
    assert.deepEqual(mechanisms, variables.KAFKA_SASL_MECHANISM.words);
  });

  it('have a pattern of redis.url for each form that crier takes, and for no other', async () => {
    const schema = JSON.parse(await read('values.schema.json')) as Schema;
    const pattern = new RegExp(schema.properties!['redis']!.properties!['url']!.pattern!);
    const isTaken = (url: string) => {
      try {
        return Boolean(parseRedisUrl(url));
      } catch {
        return false;
      }
    };
    const taken = ['redis://a', 'redis://a:6379/1', 'rediss://[::1]:6379?db=1', 'redis+cluster://a:1,b:2?family=6'];
    const sentinels = ['redis+sentinel://a,b:2/main', 'rediss+sentinel://a/main/1?sentinelUsername=u'];
    const refused = ['a:6379', 'redis://a,b', 'redis://a,redis://b', 'redis+cluster://a/1', 'redis+sentinel://a,b'];
    for (const url of [...taken, ...sentinels, ...refused]) assert.equal(pattern.test(url), isTaken(url), url);
    assert.deepEqual(
      [...taken, ...sentinels].filter((url) => !isTaken(url)),
      [],
    );
  });

  const refused: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
    ['an unknown value', { 'gateway.replica': 3 }, /'\/gateway'.*'replica' not allowed/],
    ['an unknown mode', { mode: 'both' }, /'\/mode'.*'roles', 'all'/],
    ['a number as text', { 'worker.replicas': '2' }, /'\/worker\/replicas': got string, want integer/],
    ['no pod at all', { 'worker.replicas': 0 }, /'\/worker\/replicas'.*minimum/],
    ['no broker', { 'kafka.brokers': [] }, /kafka\.brokers: expected at least one host:port/],
    ['a broker without a port', { 'kafka.brokers': ['kafka'] }, /'\/kafka\/brokers\/0'.*pattern/],
    ['no Redis', { 'redis.url': '' }, /redis\.url or secrets\.REDIS_URL: expected one/],
    ['a password in redis.url', { 'redis.url': 'redis://:secret@redis:6379' }, /'\/redis\/url'.*pattern/],
    ['several servers in redis.url', { 'redis.url': 'redis://a:6379,redis://b:6379' }, /'\/redis\/url'.*pattern/],
    ['Sentinels without a name', { 'redis.url': 'redis+sentinel://a,b' }, /'\/redis\/url'.*pattern/],
    ['Redis twice', { 'secrets.REDIS_URL': { name: 'a', key: 'b' } }, /redis\.url and secrets\.REDIS_URL.*only one/],
    [
      'a Redis of which nothing names the ports',
      { 'redis.url': '', 'secrets.REDIS_URL': { name: 'a', key: 'b' } },
      /networkPolicy\.redis\.ports: expected the ports of Redis/,
    ],
    [
      'a user and a password of the schema registry in plain text',
      { 'settings.SCHEMA_REGISTRY_URL': 'https://a,https://u:p@b' },
      /settings\.SCHEMA_REGISTRY_URL: .* without user and password; use secrets/,
    ],
    [
      'a process for each core of the node',
      { 'gateway.processes': 'auto' },
      /gateway\.processes: expected a number, or gateway\.resources\.limits\.cpu/,
    ],
    ['a name that is cut', { fullnameOverride: 'a'.repeat(37) }, /'\/fullnameOverride'.*maxLength/],
    ['SASL without a password', { 'kafka.saslMechanism': 'plain' }, /secrets\.KAFKA_SASL_PASSWORD: expected/],
    [
      'a SASL user twice',
      { 'kafka.saslUsername': 'crier', 'secrets.KAFKA_SASL_USERNAME': { name: 'a', key: 'b' } },
      /kafka\.saslUsername and secrets\.KAFKA_SASL_USERNAME: expected only one/,
    ],
    [
      'a password of SASL without a mechanism',
      { 'secrets.KAFKA_SASL_PASSWORD': { name: 'a', key: 'b' } },
      /kafka\.saslMechanism: expected, because/,
    ],
    [
      'OAUTHBEARER without a module of tokens',
      { 'kafka.saslMechanism': 'oauthbearer' },
      /kafka\.saslTokenProvider: expected, because/,
    ],
    [
      'OAUTHBEARER with a user',
      { 'kafka.saslMechanism': 'oauthbearer', 'kafka.saslTokenProvider': '/token.mjs', 'kafka.saslUsername': 'crier' },
      /kafka\.saslUsername.*: expected none, because kafka\.saslMechanism is oauthbearer/,
    ],
    [
      'a module of tokens without OAUTHBEARER',
      { 'kafka.saslTokenProvider': '/token.mjs' },
      /kafka\.saslMechanism: expected oauthbearer, because/,
    ],
    [
      'a relative path of a module of tokens',
      { 'kafka.saslTokenProvider': 'token.mjs' },
      /'\/kafka\/saslTokenProvider'.*pattern/,
    ],
    [
      "Kafka's certificates without TLS",
      { 'secrets.KAFKA_TLS_CA': { name: 'a', key: 'b' } },
      /kafka\.tls: expected true, because secrets\.KAFKA_TLS_CA is set/,
    ],
    [
      'a passphrase of a key in plain text',
      { 'settings.KAFKA_TLS_KEY_PASSPHRASE': 'a' },
      /settings\.KAFKA_TLS_KEY_PASSPHRASE: use secrets/,
    ],
    ['a SASL user without a mechanism', { 'kafka.saslUsername': 'crier' }, /kafka\.saslMechanism: expected, because/],
    ['a secret of another setting', { 'secrets.PORT': { name: 'a', key: 'b' } }, /'\/secrets'.*'PORT' not allowed/],
    [
      'a setting that has a value of its own',
      { 'settings.KAFKA_BROKERS': 'a:1' },
      /settings\.KAFKA_BROKERS: use kafka\.brokers/,
    ],
    ['a secret in plain text', { 'settings.ADMIN_TOKEN': 'a' }, /settings\.ADMIN_TOKEN: use secrets/],
    [
      "headers of the schema registry's requests in plain text",
      { 'settings.SCHEMA_REGISTRY_HEADERS': 'a=b' },
      /settings\.SCHEMA_REGISTRY_HEADERS: use secrets/,
    ],
    ['a key of tokens in plain text', { 'settings.JWT_SECRET': 'a' }, /settings\.JWT_SECRET: use secrets/],
    ['a setting that the chart relies on', { 'settings.ADMIN_PORT': 1 }, /settings\.ADMIN_PORT: .*probes/],
    ['a setting in small letters', { 'settings.maxQueueBytes': 1 }, /maxQueueBytes/],
    ['two graphs', { graph: { path: '/a', configMap: 'b' } }, /graph: expected at most one of/],
    ['an image digest that is none', { 'image.digest': 'sha256:12' }, /'\/image\/digest'.*pattern/],
    ['no memory limit', { 'gateway.resources.limits.memory': null }, /'\/gateway\/resources\/limits'.*memory/],
    ['fewer pods at most than at least', { 'gateway.autoscaling.maxReplicas': 1 }, /maxReplicas: expected at least/],
    ['a tunable that is none', { 'tunables.MAX_QUEUE_BYTE': 1024 }, /'\/tunables'.*'MAX_QUEUE_BYTE' not allowed/],
    ['a tunable as text', { 'tunables.MAX_EXECUTIONS': '5' }, /'\/tunables\/MAX_EXECUTIONS': got string, want integer/],
    ['a tunable out of bounds', { 'tunables.MAX_HEAP_PERCENT': 100 }, /'\/tunables\/MAX_HEAP_PERCENT'.*maximum/],
    ['a negative drain', { 'drain.spreadMs': -1 }, /'\/drain\/spreadMs'.*minimum/],
  ];
  for (const [mistake, values, message] of refused) {
    it(`are refused with the reason: ${mistake}`, async () => {
      await assert.rejects(renderChart({ name: 'crier', namespace: 'crier', example: 'roles', values }), message);
    });
  }
});
