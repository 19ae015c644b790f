import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { channelName } from '../../src/bus/channel.ts';
import { parseMessage } from '../../src/bus/redis/message-header.ts';
import { fillsKey, ownersKey } from '../../src/bus/redis/redis-keys.ts';
import { Cursors } from '../../src/gateway/fanout/resume/cursor.ts';
import { defineGraph } from '../../src/library/crier.ts';
import { stateSignatures } from '../../src/graph/state/state-signature.ts';
import { MATRIX } from '../versions/matrix.ts';
import { NODE_LINES } from '../versions/node-lines.ts';
import { VERSIONS_PAGE, pageRows } from '../versions/page-rows.ts';

const read = (path: string) => readFileSync(path, 'utf8');

type Manifest = Readonly<Record<'dependencies' | 'devDependencies' | 'engines', Readonly<Record<string, string>>>> & {
  readonly version: string;
};
const manifest = (path: string) => JSON.parse(read(path)) as Manifest;
const found = (path: string, pattern: RegExp) => {
  const [, version] = pattern.exec(read(path)) ?? [];
  assert.ok(version, `${path} has no ${String(pattern)}`);
  return version;
};

const own = manifest('package.json');
const routers = manifest('test/routers/fixtures/routers/package.json').dependencies;

/** By the name in the first cell of a row in docs/operate/versions.md: versions that the second cell names. */
const TESTED: Readonly<Record<string, readonly string[]>> = {
  Node: Object.values(NODE_LINES),
  'the operating system': [found('Dockerfile', /NODE_IMAGE=node:(\d+\.\d+\.\d+)-bookworm/)],
  Kafka: [found('stack/kafka/pom.xml', /<kafka.version>(.*?)</)],
  kafkajs: [own.dependencies['kafkajs']!],
  Redis: [found('docker-compose.yml', /REDIS_VERSION:-(\d+\.\d+\.\d+)/)],
  'a schema registry': [found('stack/schema-registry/pom.xml', /<version>(\d+\.\d+\.\d+)\.Final</)],
  Debezium: [found('stack/debezium/pom.xml', /postgres<\/artifactId>\s*<version>(\d+\.\d+\.\d+)\.Final</)],
  'graphql-js': [own.devDependencies['graphql']!, found('test/run-graphql17.ts', /GRAPHQL_VERSION = '(.*?)'/)],
  TypeScript: [own.devDependencies['typescript']!],
  'GraphQL Code Generator, for `crier codegen`': [
    found('src/tools/codegen/generator-packages.ts', /codegen\/core': '(.*?)'/),
  ],
  'Express, Fastify': ['express', 'fastify'].map(
    (name) => manifest(`examples/${name}/package.json`).dependencies[name]!,
  ),
  'Kubernetes, Helm': [
    found('stack/kubernetes/chart.ts', /KUBERNETES_VERSION = '(.*?)'/),
    found('stack/go-programs.ts', /cmd\/helm@v(\d+\.\d+\.\d+)/),
  ],
  'nginx, Envoy, HAProxy': [found('stack/envoy.ts', /VERSION = '(.*?)'/)],
  'graphql-ws': [own.dependencies['graphql-ws']!],
  '@crier/client': [manifest('client/package.json').version],
  'graphql-sse': [own.devDependencies['graphql-sse']!],
  'Apollo Client': [own.devDependencies['@apollo/client']!],
  urql: [own.devDependencies['@urql/core']!],
  'Apollo Gateway, Hive Gateway': [routers['@apollo/gateway']!, routers['@graphql-hive/gateway-runtime']!],
  'graphql-redis-subscriptions': [own.devDependencies['graphql-redis-subscriptions']!],
};

/** By the name before the colon in the first cell of each row: the second cell. */
function testedOnPage(): ReadonlyMap<string, string> {
  const rows = read('docs/operate/versions.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(({ length }) => length === 4);
  return new Map(rows.map(([, name, tested]) => [name!.split(':', 1)[0]!, tested!]));
}

describe('docs/operate/versions.md', () => {
  it('names the versions that are tested', () => {
    const page = testedOnPage();
    for (const [name, versions] of Object.entries(TESTED)) {
      for (const version of versions) assert.ok(page.get(name)?.includes(version), `${name}: ${version}`);
    }
    assert.equal(own.engines['node'], '>=20.19');
    assert.match(NODE_LINES[20], /^20\.19\.0$/, 'the oldest version that may run crier');
  });

  it('has rows of versions in the matrix only, each with tests that passed', () => {
    const rows = pageRows(read(VERSIONS_PAGE));
    const names = MATRIX.map(({ name }) => name);
    assert.deepEqual(
      rows.filter(({ name, passed }) => !names.includes(name) || passed === 0),
      [],
    );
    assert.ok(rows.length > 0);
  });
});

// Another result here is another format: pods of the version before would not understand it.
describe('what pods of two versions share', () => {
  it('has the names of channels and keys that the page says', () => {
    const keys = [
      { path: 'id', value: 'a"b' },
      { path: 'tenant', value: undefined },
    ];
    assert.equal(channelName('crier:', 'orders', keys), 'crier:orders{id="a\\"b",tenant=*}');
    assert.deepEqual([ownersKey('crier:'), fillsKey('crier:')], ['crier:owners', 'crier:fills']);
  });

  it('has messages whose unknown fields are ignored', () => {
    const coordinates = { partition: 3, offset: 17, timestamp: 5, epoch: 9 };
    const known = parseMessage(Buffer.from('@3 17 5 9 7-0 6-1\n{}'));
    assert.deepEqual(known.coordinates, { ...coordinates, entry: '7-0', previous: '6-1' });
    const later = parseMessage(Buffer.from('@3 17 5 9 7-0 - later=x\n{}'));
    assert.deepEqual(later.coordinates, { ...coordinates, entry: '7-0', previous: undefined });
    assert.equal(String(later.payload), '{}');
  });

  it('has cursors that a pod of another version accepts', () => {
    const position = { epoch: 36, partition: 1, offset: 1000, entry: '7-0' };
    const cursor = '10.1.rs.7-0.nbNY53iSOUGNTlNw';
    assert.equal(new Cursors('secret').sign('crier:orders{}', position), cursor);
    assert.deepEqual(new Cursors('secret').read('crier:orders{}', cursor), position);
  });

  it('has names of states that stay, so that they are not filled again', () => {
    const { bindings } = defineGraph({
      schema: `type Order { id: ID }
        type Subscription { order(id: ID!): Order @kafka(topic: "o", match: [{ arg: "id", path: "id" }], state: {}) }`,
    });
    assert.deepEqual([...stateSignatures(bindings.values(), [])], [['o', '170ae10baab587a7']]);
  });
});
