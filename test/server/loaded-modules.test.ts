import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { partOf } from '../../loadtest/start/part-times.ts';
import { modulesOfStart } from '../../loadtest/start/start-once.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import { cleanEnvironment } from '../support/clean-environment.ts';

const FORMATS = ['avsc', 'protobufjs', 'snappy', 'lz4-napi', 'fzstd'];
/** Loaded by the first operation of a client, by tokens and by traces. */
const LATER = ['graphql-jit', 'ajv', 'undici', 'jose', '@opentelemetry/api'];
/** What no pod loads before it is ready: folders of src are those of the other role. */
const ROLES: readonly [role: string, unwanted: readonly string[]][] = [
  ['embedded', [...LATER, ...FORMATS, 'kafkajs', 'ioredis']],
  ['gateway', [...LATER, ...FORMATS, 'kafkajs', 'src/kafka/session', 'src/kafka/decoding']],
  [
    'worker',
    [
      ...LATER,
      'avsc',
      'protobufjs',
      'ws',
      'graphql-ws',
      'graphql-http',
      'src/gateway/websocket',
      'src/gateway/streams',
    ],
  ],
];

/** @param part the name of a package, or a folder of src */
function isOf(part: string, file: string): boolean {
  return part.startsWith('src/')
    ? file.replace(/.*\/src(-\w+)?\//, 'src/').startsWith(`${part}/`)
    : partOf(file) === part;
}

describe('a pod, until it is ready,', () => {
  let redis: RedisServer;

  before(async () => {
    redis = await startRedisServer();
  });

  after(() => redis.stop());

  for (const [role, unwanted] of ROLES) {
    it(`loads no module that it does not run: ${role}`, async () => {
      const files = await modulesOf(role === 'embedded' ? {} : { ROLE: role, ...apart() });
      assert.ok(files.length > 100, `${files.length} modules`);
      assert.deepEqual(
        files.filter((file) => unwanted.some((part) => isOf(part, file))),
        [],
      );
    });
  }

  it('loads no format before a schema of it: a worker with a schema registry', async () => {
    const files = await modulesOf({ ROLE: 'worker', ...apart(), SCHEMA_REGISTRY_URL: 'http://127.0.0.1:9' });
    assert.ok(
      files.some((file) => partOf(file) === 'undici'),
      'what asks the registry',
    );
    assert.deepEqual(
      files.filter((file) => ['avsc', 'protobufjs', 'src/kafka/decoding/avro'].some((part) => isOf(part, file))),
      [],
    );
  });

  // A first use would load them while events flow.
  it('has loaded what its settings and its graph make it use: a gateway with a backend and mutations', async () => {
    const used = { GRAPH: 'examples/orders', BACKEND_CATALOG_URL: 'http://127.0.0.1:9' };
    const parts = new Set((await modulesOf({ ROLE: 'gateway', ...apart(), ...used })).map(partOf));
    assert.deepEqual(
      ['undici', 'kafkajs'].filter((part) => !parts.has(part)),
      [],
    );
  });

  const apart = () => ({ REDIS_URL: redis.url, KAFKA_BROKERS: '127.0.0.1:9' });

  function modulesOf(settings: Readonly<Record<string, string>>): Promise<string[]> {
    const all = Object.entries({ ...cleanEnvironment(), ...settings });
    const environment = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
    return modulesOfStart({ script: 'dist/src/main.js', nodeArguments: [], environment });
  }
});
