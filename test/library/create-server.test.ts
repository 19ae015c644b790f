import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { ConfigError, createServer, defineGraph, GraphError, SetupError } from '../../src/library/crier.ts';
import type { Server, ServerOptions } from '../../src/library/crier.ts';
import { variables } from '../../src/config/variables.ts';
import { defineResolvers } from '../../src/library/graph.ts';
import { logLines } from '../bus/log-lines.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { metricOf } from '../support/metric.ts';

const SCHEMA = `type Subscription {
  counted(key: ID!): Counted @kafka(topic: "counts", match: [{ arg: "key", path: "key" }])
}
type Counted { key: ID, n: Int, text: String }
`;

/** Settings that are no options. */
const PROCESS = ['GRAPH', 'PROCESSES', 'PROFILE_ON_EXIT'];
const SERVERS = { kafkaBrokers: ['127.0.0.1:1'], redisUrl: 'redis://127.0.0.1:1' };
const AVRO_SCHEMA = 'type Subscription { state_changed: Int @kafka(topic: "states", format: AVRO) }';
const PRIVATE_SCHEMA = 'type Subscription { a: Int @kafka(topic: "a") @authenticated }';

async function start(t: TestContext, options: ServerOptions): Promise<Server> {
  const server = await createServer({ host: '127.0.0.1', port: 0, logLevel: 'error', ...options });
  t.after(() => server.close());
  return server;
}

/** The first event of a subscription to key "a", after which `publish` was called. */
async function firstEvent(t: TestContext, server: Server, publish: () => Promise<void>): Promise<unknown> {
  const socket = await openSocket(t, server.webSocketUrl!);
  await socket.init();
  socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { counted(key: "a") { n text } }' } });
  await waitFor('the subscription', async () => (await metricOf(server.adminUrl, 'crier_channels')) >= 1);
  await publish();
  const [message] = await socket.take(1);
  return (message!.payload as { data: unknown }).data;
}

function countingGraph(text: string) {
  const resolvers = defineResolvers({ Counted: { text: ({ n }: { n: number }) => `${text} ${n}` } });
  return defineGraph({ schema: SCHEMA, resolvers });
}

describe('createServer', { concurrency: 4 }, () => {
  it('serves graphs of one process side by side, each with its own records and resolvers', async (t) => {
    const [one, two] = await Promise.all([
      start(t, { graph: countingGraph('one') }),
      start(t, { graph: countingGraph('two') }),
    ]);
    assert.notEqual(one.url, two.url);
    const events = await Promise.all([
      firstEvent(t, one, () => one.publish('counts', { value: { key: 'a', n: 1 } })),
      firstEvent(t, two, () => two.publish('counts', { value: { key: 'a', n: 2 } })),
    ]);
    assert.deepEqual(events, [{ counted: { n: 1, text: 'one 1' } }, { counted: { n: 2, text: 'two 2' } }]);
    await one.close();
    assert.equal((await fetch(`${two.adminUrl}/readyz`)).status, 200);
    await assert.rejects(fetch(`${one.adminUrl}/readyz`));
  });

  it('loads a graph folder that imports crier/graph, and answers queries', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `type Query { hello: String }\n${SCHEMA}`,
      'resolvers.ts': `import { defineResolvers } from 'crier/graph';
        export const { Query } = defineResolvers({ Query: { hello: (): string => 'from a folder' } });`,
    });
    const server = await start(t, { graph: folder });
    const response = await fetch(server.url!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ hello }' }),
    });
    assert.deepEqual(await response.json(), { data: { hello: 'from a folder' } });
  });

  it('has a revision of its schema and code, without what its functions close over', () => {
    const revisionOf = (definition: object) => defineGraph({ schema: SCHEMA, ...definition }).revision;
    const text = (resolve: (source: { n: number }) => string) => ({ resolvers: { Counted: { text: resolve } } });
    const closing = (value: string) => text(() => value);
    const revisions = [
      revisionOf({}),
      revisionOf(text(({ n }) => `${n}`)),
      revisionOf(text(({ n }) => `${n}!`)),
      revisionOf({ context: { backends: ['a'] } }),
      revisionOf({ context: { backends: ['a'], authenticate: () => ({ sub: 'a' }) } }),
      revisionOf({ context: { backends: ['a'], authenticate: () => ({ sub: 'b' }) } }),
      revisionOf({ schema: `${SCHEMA}type More { a: Int }` }),
    ];
    assert.equal(new Set(revisions).size, revisions.length, revisions.join());
    assert.equal(revisionOf(text(({ n }) => `${n}`)), revisions[1]);
    assert.equal(revisionOf(closing('a')), revisionOf(closing('b')));
    const samples: { records: () => []; self?: object } = { records: () => [] };
    samples.self = samples;
    assert.match(revisionOf({ samples }), /^[0-9a-f]{12}$/);
  });

  it('refuses a part of a graph that it does not know', () => {
    const misspelt = { schema: SCHEMA, resolver: { Counted: { text: () => 'never' } } };
    assert.throws(
      () => defineGraph(misspelt),
      /^GraphError: resolver: unknown part of a graph; did you mean "resolvers"\?$/,
    );
  });

  it('says what takes a graph, and what it takes', async () => {
    const cases: readonly (readonly [definition: unknown, message: RegExp])[] = [
      [SCHEMA, /^defineGraph: expected an object such as \{ schema: "type …", resolvers: \{ … \} \}, got a string$/],
      [{ typeDefs: SCHEMA }, /^typeDefs: unknown part of a graph; write schema, which is a text$/],
      [{ schema: SCHEMA, plugins: [] }, /^plugins: unknown part of a graph; the parts are name, schema, resolvers, /],
      [{ resolvers: {} }, /^schema: expected the text of an SDL, got no value$/],
      [
        { schema: SCHEMA, resolvers: [{}] },
        /^resolvers: expected one object of what resolvers\.ts would export, got a list$/,
      ],
    ];
    for (const [definition, message] of cases) {
      assert.throws(
        () => defineGraph(definition as never),
        (error: Error) => {
          assert.match(error.message, message);
          return error instanceof GraphError;
        },
      );
    }
    assert.ok(defineGraph({ schema: SCHEMA, ...({ context: undefined } as object) }));
    const graph = defineGraph({ schema: SCHEMA });
    for (const [options, message] of [
      ['./graph', 'expected an object of options, such as { graph: "./graph" }, got a string'],
      [graph, 'expected an object of options, got a graph; write { graph }'],
      [{ schema: SCHEMA }, 'schema: unknown option; it is a part of a graph: graph: defineGraph({ schema: … })'],
      [{ brokers: 'a:1' }, 'brokers: unknown option; did you mean "kafkaBrokers"?'],
    ] as const) {
      await assert.rejects(createServer(options as object), { name: 'ConfigError', message });
    }
  });

  it('names the option that is unknown or cannot be used, and leaves nothing running', async (t) => {
    const busy = await start(t, { graph: countingGraph('busy') });
    const port = Number(new URL(busy.url!).port);
    const cases: readonly [object, RegExp, typeof SetupError?][] = [
      [{ prot: 1 }, /^prot: unknown option; did you mean "port"\?$/],
      [{ jwtSecret: null }, /^jwtSecret: expected a value, or undefined if it is not set, got null$/],
      [
        { maxMessageBurst: 500 },
        /^maxMessageBurst: no longer an option: its value follows from maxMessagesPerSecond \(7\.5 times that\): unset it/,
      ],
      [{ port: -1 }, /^port: expected .*, got "-1"$/],
      [{ kafkaBrokers: ['a:1'] }, /^redisUrl: expected a Redis/],
      [{ backends: { seller: 'seller:80' } }, /^backends\.seller: expected an http/],
      [{ backends: { sellerApi: null } }, /^backends\.sellerApi: expected an http/],
      [
        { backends: { seller: { url: 'http://a', forwardHeader: ['x'] } } },
        /^backends\.seller\.forwardHeader: unknown option; did you mean "forwardHeaders"\?$/,
      ],
      [
        { backends: { sellerApi: { url: 'http://a', forwardHeaders: ['authorization'] } } },
        /^backends\.sellerApi\.forwardHeaders: .* backends\.sellerApi\.forwardAuthorization=true$/,
      ],
      [
        { backends: { seller: { url: 'http://a', forwardAuthorization: 1 } } },
        /^backends\.seller\.forwardAuthorization: /,
      ],
      [{ backends: { seller: 'http://a?b=c' } }, /^backends\.seller: expected a URL without credentials/],
      [{ role: 'gateway', embedded: true }, /^embedded=true contradicts role=gateway: .* or unset role$/],
      [
        { maxQueueBytes: 4096, maxPodQueueBytes: 2048 },
        /^maxQueueBytes: expected no more than maxPodQueueBytes \(2048\), got 4096$/,
      ],
      [{ host: '127.0.0.1', port }, /^port: port \d+ on 127\.0\.0\.1 is in use/, SetupError],
      [{ host: '192.0.2.1' }, /^host: expected an address of this machine/, SetupError],
      [{ adminHost: '192.0.2.1' }, /^adminHost: expected an address of this machine/, SetupError],
      [{ trustedDocuments: '/nowhere' }, /^trustedDocuments: /],
      [{ graph: '/nowhere' }, /^\/nowhere: no such folder; set graph to a folder/, GraphError],
      [
        { ...SERVERS, role: 'worker', graph: defineGraph({ schema: AVRO_SCHEMA }) },
        /^Subscription\.state_changed: format: AVRO needs schemaRegistryUrl/,
        GraphError,
      ],
      [
        { graph: defineGraph({ schema: PRIVATE_SCHEMA }) },
        /\(jwtJwksUrl, jwtPublicKey or jwtSecret\) and not auth=none/,
        GraphError,
      ],
    ];
    for (const [options, message, type = ConfigError] of cases) {
      const error = await start(t, { logLevel: 'fatal', ...options }).then(
        () => assert.fail(`started with ${Object.keys(options).join(', ')}`),
        (error: unknown) => error,
      );
      assert.ok(error instanceof Error);
      assert.match(error.message, message);
      assert.equal(error.constructor, type, error.message);
      assert.doesNotMatch(error.message, /[A-Z]{2,}_[A-Z]/);
    }
    assert.throws(() => defineGraph({ schema: 'type Query { a: Int }' }), /has no Subscription type/);
    assert.throws(
      () => defineGraph({ schema: SCHEMA, resolvers: { Countd: {} } }),
      /resolvers: exports "Countd".*Counted/,
    );
  });

  it('leaves words of the graph as they are in its errors', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': SCHEMA,
      'resolvers.js': 'const KAFKA_BROKERS = ;',
    });
    await assert.rejects(createServer({ graph: folder, logLevel: 'fatal' }), /> 1 \| const KAFKA_BROKERS = ;/);
  });

  it('proposes an option that is no setting, too', async () => {
    for (const [options, proposed] of [
      [{ grap: './a' }, 'graph'],
      [{ backend: {} }, 'backends'],
      [{ listn: false }, 'listen'],
      [{ loger: undefined }, 'logger'],
      [{ onfatal: () => undefined }, 'onFatal'],
    ] as const) {
      await assert.rejects(createServer(options as object), {
        message: new RegExp(`; did you mean "${proposed}"\\?$`),
      });
    }
  });

  it('names options in the lines of its log, whatever the line is', async (t) => {
    const { log, lines } = logLines();
    const context = { backends: ['sellerApi'] };
    const backends = { sellerApy: 'http://127.0.0.1:1' };
    const identity = { jwtJwksUrl: 'http://127.0.0.1:1', auth: 'optional' };
    const graph = defineGraph({ schema: SCHEMA, context });
    await start(t, { graph, backends, ...identity, adminHost: '0.0.0.0', logger: log, logLevel: 'info' });
    const texts = lines.map(({ msg, reason }) => `${msg} ${reason ?? ''}`);
    for (const expected of [
      /^backends\.sellerApy names no backend .* did you mean "backends\.sellerApi"\?/,
      /^jwtIssuer is not set: .* in jwtJwksUrl/,
      /^jwtAudience is not set/,
      /^adminToken is not set: adminPort serves/,
    ]) {
      assert.ok(
        texts.some((text) => expected.test(text)),
        `${String(expected)} is not among ${texts.join('\n')}`,
      );
    }
    for (const text of texts) assert.doesNotMatch(text, /[A-Z]{2,}_[A-Z]/);
  });

  it('names the option of every setting whose value it refuses', async () => {
    const settings = Object.entries(variables).filter(([name, { parse }]) => !PROCESS.includes(name) && !parse('{}'));
    const options = settings.map(([name]) =>
      name.toLowerCase().replace(/_(.)/g, (_, next: string) => next.toUpperCase()),
    );
    const refused = Object.fromEntries(options.map((option) => [option, '{}']));
    await assert.rejects(createServer(refused), ({ message }: Error) => {
      assert.deepEqual(
        message.split('\n').map((line) => line.split(':', 1)[0]),
        options,
      );
      return true;
    });
  });

  it('counts an absent URL of a backend as not set', async (t) => {
    const backends = { seller: undefined, buyer: { url: '', forwardHeaders: ['x-tenant'] } };
    const { log, lines } = logLines();
    await start(t, { graph: countingGraph('x'), backends, logger: log, logLevel: 'info' });
    assert.deepEqual(
      lines.filter(({ level }) => level > 30),
      [],
    );
  });

  it('refuses a record of a topic that no field reads, and names those that are read', async (t) => {
    const server = await start(t, { graph: countingGraph('x') });
    await assert.rejects(server.publish('count', { value: { key: 'a' } }), {
      message:
        'publish: no field of the graph reads the topic "count"; topics that are read: counts; did you mean "counts"?',
    });
    const plain = defineGraph({ schema: 'type Subscription { typing: Int @redis(channel: "typing") }' });
    await assert.rejects((await start(t, { graph: plain })).publish('typing', { value: {} }), {
      message: 'publish: no field of the graph reads the topic "typing"; no field has @kafka',
    });
  });

  it('takes records of the topics that a reloaded graph reads', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const server = await start(t, { graph: folder });
    await writeFile(join(folder, 'schema.graphql'), SCHEMA.replace('"counts"', '"numbers"'));
    const { status } = await fetch(`${server.adminUrl}/admin/reload`, { method: 'POST' });
    assert.equal(status, 200);
    await server.publish('numbers', { value: { key: 'a' } });
    await assert.rejects(server.publish('counts', { value: { key: 'a' } }), /topics that are read: numbers$/);
  });

  it('says where events come from without samples, instead of that none will come', async (t) => {
    const { log, lines } = logLines();
    await start(t, { graph: countingGraph('x'), logger: log, logLevel: 'info' });
    const messages = lines.map(({ msg }) => String(msg));
    assert.deepEqual(
      messages.filter((message) => message.startsWith('no event will come')),
      [],
    );
    assert.equal(messages.filter((message) => /^the graph has no samples: .*publish/.test(message)).length, 1);
  });

  it('refuses to take records beside Kafka', async (t) => {
    const server = await start(t, { graph: countingGraph('x'), role: 'gateway', redisUrl: 'redis://127.0.0.1:1' });
    await assert.rejects(server.publish('counts', { value: {} }), /with Kafka, records come from its producers/);
  });
});
