import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { SignJWT } from 'jose';
import kafkajs from 'kafkajs';
import { request } from 'undici';
import type { Pod } from './end-to-end/pod.ts';
import { spawnPod } from './end-to-end/pod-process.ts';
import { startPod, startRefusal } from './end-to-end/pod-server.ts';
import { graphFolder } from './graph/support/graph-folder.ts';
import { kafkaBrokers, randomName, redisServer } from './support/services.ts';
import { openSocket } from './support/socket.ts';
import { waitFor } from './support/wait-for.ts';
import { refusalOf } from './tools/refusal.ts';

/** No server listens there, because port 1 is reserved. */
const UNUSED_ADDRESS = '127.0.0.1:1';

/** What somebody does wrong on the first day, and what crier says of it. */
interface Mistake {
  /** Makes the mistake. The text that the person reads: of standard error, of a log line, of a reply, of a close frame. */
  readonly make: (t: TestContext) => Promise<string>;
  /** The parts of the text: what is wrong and where, and the fix. */
  readonly says: readonly RegExp[];
}

const TYPES = 'type Order { id: ID! total: Float }';
const BOUND =
  'order_updated(id: ID!): Order @kafka(topic: "orders", match: [{ arg: "id", path: "order.id" }], payload: "order")';

const schemaOf = (field: string, types = TYPES) => ({
  'schema.graphql': `${types}\ntype Subscription {\n  ${field}\n}`,
});

/** What a pod writes that does not start with this graph. */
async function refusal(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  return startRefusal(t, { GRAPH: await graphFolder(t, files) });
}

/** The same of a process. */
async function refusedStart(t: TestContext, settings: Readonly<Record<string, string>>): Promise<string> {
  const pod = spawnPod(t, settings);
  assert.equal(await pod.ended, 1);
  assert.equal(pod.output, '');
  return pod.log.trimEnd();
}

/** Fields of every line of the log. */
const OF_EVERY_LINE = ['level', 'msg', 'time', 'pod', 'role', 'version'];

/** The first log line whose message begins like this: the message, and its fields beside those of every line. */
async function logged(pod: Pod, message: string): Promise<string> {
  const find = () => pod.lines.find(({ msg }) => msg.startsWith(message));
  await pod.until(message, () => find() !== undefined);
  const line = find()!;
  const facts = Object.entries(line).filter(([name]) => !OF_EVERY_LINE.includes(name));
  return `${line.level}: ${line.msg} ${JSON.stringify(Object.fromEntries(facts))}`;
}

/** An embedded pod whose sample records have a value that fits no enum, and items without a type. */
async function samplePod(t: TestContext): Promise<Pod> {
  const types = `
    type Order { id: ID! state: State! items: [Item] }
    enum State { OPEN CLOSED }
    union Item = Book | Toy
    type Book { title: String }
    type Toy { age: Int }`;
  const samples = `export function* records() {
    for (;;) yield { topic: 'orders', value: { order: { id: 'o-1', state: 'OPEM', items: [{ title: 't' }] } } };
  }`;
  return startPod(t, {
    GRAPH: await graphFolder(t, { ...schemaOf(BOUND, types), 'samples.ts': samples }),
    SAMPLE_INTERVAL_MS: '20',
    PUBLIC_ORIGIN: 'https://api.example.com',
  });
}

/** The first event of a subscription, as a client receives it, and what the log says of it. */
async function eventAndLog(t: TestContext, selection: string, message: string): Promise<string> {
  const pod = await samplePod(t);
  const socket = await openSocket(t, pod.url);
  await socket.init();
  socket.subscribe('1', `subscription { order_updated(id: "o-1") { ${selection} } }`);
  const { payload } = await socket.next();
  return `${JSON.stringify(payload)}\n${await logged(pod, message)}`;
}

async function reply(t: TestContext, options: Parameters<typeof request>[1], path = '') {
  const pod = await samplePod(t);
  const { statusCode, body } = await request(`${pod.endpoint}${path}`, options);
  return `${statusCode} ${await body.text()}`;
}

/** What a pod logs whose samples.ts yields this record. */
async function sampleLog(t: TestContext, record: string): Promise<string> {
  const files = {
    ...schemaOf(BOUND),
    'samples.ts': `export function* records() { for (;;) yield ${record}; }`,
  };
  return logged(await startPod(t, { GRAPH: await graphFolder(t, files) }), 'samples.ts yields');
}

/** A pod with Kafka and Redis, whose topic has these records. */
async function kafkaPod(
  t: TestContext,
  field: (topic: string) => string,
  ...values: (object | Buffer)[]
): Promise<Pod> {
  const brokers = await kafkaBrokers({ after: (fn) => t.after(fn) });
  const topic = randomName('mistake');
  if (values.length > 0) {
    const kafka = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
    const [admin, producer] = [kafka.admin(), kafka.producer()];
    await Promise.all([admin.connect(), producer.connect()]);
    t.after(async () => void (await Promise.all([admin.disconnect(), producer.disconnect()])));
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false });
    await waitFor('the leader', async () => (await admin.fetchTopicOffsets(topic).catch(() => [])).length === 1);
    const messages = values.map((value) => ({ value: Buffer.isBuffer(value) ? value : JSON.stringify(value) }));
    await producer.send({ topic, messages });
  }
  return startPod(t, {
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: randomName('group'),
    KAFKA_FROM_BEGINNING: 'true',
    KAFKA_DEAD_LETTER_TOPIC: randomName('dead'),
    REDIS_URL: (await redisServer(t)).url,
    GRAPH: await graphFolder(t, schemaOf(field(topic))),
  });
}

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'GRAPH names no folder': {
    make: (t) => refusedStart(t, { GRAPH: '/nonexistent/my-graph' }),
    says: [/\/nonexistent\/my-graph: no such folder/, /set GRAPH to a folder that has a schema\.graphql/],
  },
  'GRAPH misspells a folder': {
    make: async (t) => {
      const folder = await graphFolder(t, { 'graph/schema.graphql': '' });
      return startRefusal(t, { GRAPH: join(folder, 'grpah') });
    },
    says: [/^\S+\/grpah: no such folder; did you mean "graph"\?$/],
  },
  'GRAPH is one folder too high': {
    make: async (t) => startRefusal(t, { GRAPH: await graphFolder(t, { 'graph/schema.graphql': '' }) }),
    says: [/^\S+\/schema\.graphql: not found; did you mean the folder \S+\/graph\?$/],
  },
  'the schema has another extension': {
    make: (t) => refusal(t, { 'schema.gql': '' }),
    says: [/schema\.graphql: not found, but schema\.gql is there/, /rename it to schema\.graphql/],
  },
  'resolvers are in a file that is not loaded': {
    make: async (t) => {
      const files = { ...schemaOf(BOUND), 'resolver.ts': 'export const Order = { total: () => 1 };' };
      return logged(await startPod(t, { GRAPH: await graphFolder(t, files) }), 'resolver.ts');
    },
    says: [/^warn: resolver\.ts is not loaded/, /rename it to resolvers\.ts, or to one of: resolvers\.js/],
  },
  'a field is in camelCase': {
    make: (t) => refusal(t, schemaOf(BOUND, 'type Order { id: ID! unitPrice: Float }')),
    says: [
      /schema\.graphql:1: Order\.unitPrice: would always be null/,
      /rename it to "unit_price", or keep the keys as they are/,
    ],
  },
  'match names an argument that the field does not have': {
    make: (t) => refusal(t, schemaOf(BOUND.replace('arg: "id"', 'arg: "order_id"'))),
    says: [
      /schema\.graphql:3: Subscription\.order_updated: match of @kafka names the argument "order_id", which the field does not have; its arguments are: id/,
    ],
  },
  'match names an argument without quotes': {
    make: (t) => refusal(t, schemaOf(BOUND.replace('arg: "id"', 'arg: id'))),
    says: [/^schema\.graphql:3: Subscription\.order_updated: each match must be .*; write arg: "id"$/],
  },
  'match has a path that the types do not have': {
    make: (t) => refusal(t, schemaOf(BOUND.replace('"order.id"', '"order.ident"'))),
    says: [
      /schema\.graphql:3: Subscription\.order_updated: path "order\.ident" leads to no field, which a path inside the payload must/,
      /Order has no field "ident"; its fields are: id, total/,
    ],
  },
  'a subscription field has no source': {
    make: (t) => refusal(t, schemaOf('order_updated: Order')),
    says: [/Subscription\.order_updated: has no source, so no event would ever come/, /add @kafka\(topic: "…"\)/],
  },
  'a mutation has no resolver': {
    make: (t) => refusal(t, schemaOf(BOUND, `${TYPES} type Mutation {\n  place(id: ID!): Order\n}`)),
    says: [
      /^schema\.graphql:2: Mutation\.place: has no resolver, so it would always be null/,
      /write export const Mutation = \{ place: \(source, args, context\) => … \} in resolvers\.ts, add @kafkaPublish/,
    ],
  },
  'a query has no resolver': {
    make: async (t) => {
      const files = schemaOf(BOUND, `${TYPES} type Query { order(id: ID!): Order }`);
      return logged(await startPod(t, { GRAPH: await graphFolder(t, files) }), 'schema.graphql:1: Query');
    },
    says: [
      /^warn: schema\.graphql:1: Query\.order: has no resolver, so it would always be null/,
      /write export const Query = \{ order: .* in resolvers\.ts, add @state\(of: "…"\), or remove it/,
    ],
  },
  'a directive is misspelt': {
    make: (t) => refusal(t, schemaOf(BOUND.replace('@kafka', '@kakfa'))),
    says: [/^schema\.graphql:3: Unknown directive "@kakfa"; did you mean "@kafka"\?/],
  },
  'a type is misspelt': {
    make: (t) => refusal(t, schemaOf(BOUND.replace(': Order', ': Ordr'))),
    says: [/^schema\.graphql:3: Unknown type "Ordr"\. Did you mean "Order"\?/],
  },
  'a brace of the schema is not closed': {
    make: (t) => refusal(t, schemaOf(BOUND, 'type Order {\n  id: ID!\n')),
    says: [
      /^schema\.graphql:4:6: Syntax Error: .*The \{ of line 1 is not closed: add a \}\.$/m,
      /^4 \| type Subscription \{\n {2}\| {6}\^/m,
    ],
  },
  'an operator is that of another system': {
    make: async (t) => {
      const filtered = (op: string) =>
        `order_updated(min: Float): Order @kafka(topic: "orders", where: [{ arg: "min", path: "total", op: ${op} }])`;
      const texts = ['GE', 'gte', '">="', '>=', 'EQUALS'].map((op) => refusal(t, schemaOf(filtered(op))));
      return (await Promise.all(texts)).join('\n');
    },
    says: [
      /op: GE ?\}; did you mean "GTE"\?/,
      /op: gte ?\}; write op: GTE$/m,
      /op: ">=" ?\}; write op: GTE$/m,
      /^schema\.graphql:3:\d+: Syntax Error: .* Write op: GTE\.$/m,
      /op: EQUALS ?\}; write op: EQ$/m,
    ],
  },
  'resolvers.js is of CommonJS': {
    make: (t) => refusal(t, { ...schemaOf(BOUND), 'resolvers.js': 'module.exports = { Order: { total: () => 1 } };' }),
    says: [
      /^resolvers\.js:1: module\.exports is of CommonJS, and modules of a graph are ES modules/,
      /write export const Order = \{ … \} instead/,
    ],
  },
  'resolvers are one export': {
    make: (t) =>
      refusal(t, { ...schemaOf(BOUND), 'resolvers.ts': 'export const resolvers = { Order: { total: () => 1 } };' }),
    says: [
      /^resolvers\.ts: exports "resolvers", which is not a type of the schema/,
      /export its members: export const Order = \{ … \}/,
    ],
  },
  'a resolver is of no field': {
    make: async (t) => {
      const texts = ['totl', 'count'].map((name) =>
        refusal(t, { ...schemaOf(BOUND), 'resolvers.js': `export const Order = { ${name}: () => 1 };` }),
      );
      return (await Promise.all(texts)).join('\n');
    },
    says: [
      /^resolvers\.js: Order\.totl is not a field of the schema; did you mean "total"\?$/m,
      /^resolvers\.js: Order\.count is not a field of the schema; add it to Order in schema\.graphql$/m,
    ],
  },
  'resolvers are the default export': {
    make: (t) => refusal(t, { ...schemaOf(BOUND), 'resolvers.ts': 'export default { Order: { total: () => 1 } };' }),
    says: [
      /^resolvers\.ts: has a default export; export one constant for each type instead: export const Order = \{ … \}/,
    ],
  },
  'an imported file is absent': {
    make: (t) =>
      refusal(t, {
        ...schemaOf(BOUND),
        'resolvers.ts': `import data from './data.json' with { type: 'json' };\nexport const Order = { total: () => data };`,
      }),
    says: [/^resolvers\.ts:1: imports "\.\/data\.json", which does not exist; correct the path, or add the file$/],
  },
  'samples.ts throws': {
    make: async (t) => {
      const code = `export function* records() { throw new Error('no fixtures'); }`;
      const pod = await startPod(t, { GRAPH: await graphFolder(t, { ...schemaOf(BOUND), 'samples.ts': code }) });
      return logged(pod, 'records() of the samples');
    },
    says: [/^error: records\(\) of the samples failed: .* correct it in samples\.ts/, /no fixtures.*samples\.ts:1/],
  },
  'a backend is misspelt': {
    make: async (t) => {
      const files = {
        ...schemaOf(BOUND),
        'context.ts': `export const backends = ['customs'];`,
        'resolvers.ts': `export const Order = { total: (order, args, { backends }) => backends.custms.get('/total') };`,
        'samples.ts': `export function* records() { for (;;) yield { topic: 'orders', value: { order: { id: 1 } } }; }`,
      };
      const pod = await startPod(t, { GRAPH: await graphFolder(t, files), SAMPLE_INTERVAL_MS: '20' });
      const socket = await openSocket(t, pod.url);
      await socket.init();
      socket.subscribe('1', 'subscription { order_updated(id: 1) { total } }');
      return logged(pod, 'an error was kept');
    },
    says: [
      /"message":"context\.backends: there is no \\"custms\\": context\.ts exports the backends customs; did you mean \\"customs\\"\?"/,
      /"field":"Order\.total"/,
      /resolvers\.ts:1/,
    ],
  },
  'samples are of a topic that no field reads': {
    make: (t) => sampleLog(t, `{ topic: 'order', value: { order: { id: 1 } } }`),
    says: [
      /^warn: samples\.ts yields a record that nobody receives: no field of the graph reads the topic "order"/,
      /topics that are read: orders; did you mean "orders"\?/,
    ],
  },
  'samples have no topic': {
    make: (t) => sampleLog(t, `{ order: { id: 1 } }`),
    says: [/^warn: samples\.ts yields a record .*: it has no topic; yield \{ topic: "orders", value: /],
  },
  'resolvers.ts has a syntax error': {
    make: (t) => refusal(t, { ...schemaOf(BOUND), 'resolvers.ts': 'export const Order = {\n  total: () => ;\n};\n' }),
    says: [/resolvers\.ts:2: Unexpected token/, /> 2 \|/],
  },
  'a package is not installed': {
    make: (t) =>
      refusal(t, {
        ...schemaOf(BOUND),
        'resolvers.ts': `import _ from 'lodash-of-mine'; export const Order = { total: _ };`,
      }),
    says: [
      /resolvers\.ts: imports the package "lodash-of-mine", which is not installed/,
      /run npm install lodash-of-mine in \/\S+/,
    ],
  },
  'a setting is misspelt': {
    make: async (t) => logged(await startPod(t, { KAFKA_BROKER: UNUSED_ADDRESS }), 'KAFKA_BROKER '),
    says: [/^warn: KAFKA_BROKER is not a setting/, /did you mean "KAFKA_BROKERS"\?/],
  },
  'a setting has the name of another program': {
    make: async (t) => {
      const settings = { KAFKA_URL: UNUSED_ADDRESS, KAFKA_SSL: 'true', REDIS_HOST: 'localhost' };
      const pod = await startPod(t, settings);
      return (await Promise.all(Object.keys(settings).map((name) => logged(pod, `${name} `)))).join('\n');
    },
    says: [
      /^warn: KAFKA_URL is not a setting; write KAFKA_BROKERS instead/m,
      /^warn: KAFKA_SSL is not a setting; write KAFKA_TLS instead/m,
      /^warn: REDIS_HOST is not a setting; write REDIS_URL instead/m,
    ],
  },
  'an origin of a development server has no scheme': {
    make: (t) => refusedStart(t, { ALLOWED_ORIGINS: 'localhost:5173', PUBLIC_ORIGIN: 'localhost:4000' }),
    says: [
      /ALLOWED_ORIGINS: expected origins .*; write http:\/\/localhost:5173$/m,
      /PUBLIC_ORIGIN: expected .*; write http:\/\/localhost:4000$/m,
    ],
  },
  'both ports are one': {
    make: (t) => refusedStart(t, { PORT: '4001', ADMIN_PORT: '4001' }),
    says: [/^crier: PORT and ADMIN_PORT: expected two ports, got 4001 for both; set one to another$/],
  },
  'an origin has a slash': {
    make: (t) => refusedStart(t, { ALLOWED_ORIGINS: 'http://localhost:5173/' }),
    says: [
      /ALLOWED_ORIGINS: expected origins .*, got "http:\/\/localhost:5173\/"; remove the slash at its end: http:\/\/localhost:5173$/,
    ],
  },
  'the port is in use': {
    make: async (t) => {
      const server = createServer().listen(0, '127.0.0.1');
      t.after(() => void server.close());
      await new Promise((resolve) => server.once('listening', resolve));
      return refusedStart(t, { PORT: String((server.address() as AddressInfo).port) });
    },
    says: [/PORT: port \d+ on 127\.0\.0\.1 is in use/, /set PORT to another one, or to 0 for any free one/],
  },
  'Kafka cannot be reached': {
    make: async (t) => {
      const redis = await redisServer(t);
      return logged(
        await startPod(t, { KAFKA_BROKERS: UNUSED_ADDRESS, REDIS_URL: redis.url }),
        'Kafka cannot be reached',
      );
    },
    says: [/"brokers":\["127\.0\.0\.1:1"\]/, /correct KAFKA_BROKERS, or the network/],
  },
  'Redis cannot be reached': {
    make: async (t) => {
      const pod = spawnPod(t, { ROLE: 'gateway', REDIS_URL: `redis://${UNUSED_ADDRESS}` });
      return logged(pod, 'the connection to Redis failed');
    },
    says: [/127\.0\.0\.1:1/, /ECONNREFUSED/, /REDIS_URL/],
  },
  'the topic does not exist': {
    make: async (t) =>
      logged(await kafkaPod(t, (topic) => BOUND.replace('"orders"', `"${topic}"`)), 'topics do not exist'),
    says: [/"topics":\["mistake-\w+"\]/, /create them, or correct the topic in @kafka/],
  },
  'records need another decoder': {
    make: async (t) => {
      const avro = Buffer.from([0, 0, 0, 0, 1, 2, 3]);
      return logged(
        await kafkaPod(t, (topic) => BOUND.replace('"orders"', `"${topic}"`), avro),
        'records of a topic cannot be decoded',
      );
    },
    says: [
      /"topic":"mistake-\w+","partition":0,"offset":"0"/,
      /cannot be decoded \(needs_registry: Confluent's header, with schema \d+\); set SCHEMA_REGISTRY_URL/,
    ],
  },
  'a record cannot be decoded': {
    make: async (t) =>
      logged(
        await kafkaPod(t, (topic) => BOUND.replace('"orders"', `"${topic}"`), Buffer.from('a text')),
        'poison record not published',
      ),
    says: [
      /^warn: poison record not published; crier dead-letters list shows it/,
      /"topic":"mistake-\w+","partition":0,"offset":"0","reason":"not_json","found":"plain text"/,
      /"deadLetterTopic":"dead-\w+"/,
    ],
  },
  'records have their id at another path': {
    make: async (t) => {
      const record = { order: { orderId: 'o-1', id: null, total: 1 } };
      return logged(
        await kafkaPod(t, (topic) => BOUND.replace('"orders"', `"${topic}"`), record),
        'records of a topic',
      );
    },
    says: [
      /"field":"Subscription\.order_updated"/,
      /match of \\"id\\": the record has null at \\"order\.id\\", beside order_id, total/,
      /correct the path in @kafka/,
    ],
  },
  'samples do not fit the graph': {
    make: async (t) => logged(await samplePod(t), 'sample records do not fit'),
    says: [
      /Order\.state: the record has \\"OPEM\\" .*add it there, or correct samples\.ts; did you mean \\"OPEN\\"\?/,
      /no __typename at \\"order\.items\\".*export const Item = \{ __resolveType/,
    ],
  },
  'an enum lacks a value of the records': {
    make: (t) => eventAndLog(t, 'state', 'a value does not fit'),
    says: [
      /State\\" cannot represent the value of this field/,
      /"field":"Order\.state".*\\"OPEM\\" is not in the enum State \(OPEN, CLOSED\); add it there.*did you mean \\"OPEN\\"/,
    ],
  },
  'items of a union say no type': {
    make: (t) => eventAndLog(t, 'items { ... on Book { title } }', 'a value does not fit the schema'),
    says: [
      /Abstract type \\"Item\\" must resolve to an Object type.*"code":"INTERNAL_SERVER_ERROR","id":"/,
      /^error: a value does not fit the schema: clients receive null.*\{"problems":\["Order\.items: the type of a value of the union Item is unknown; write a \\"__typename\\" into the record \(Book, Toy\), or write export const Item = \{ __resolveType/m,
    ],
  },
  'a page of another origin connects': {
    make: async (t) => {
      const pod = await samplePod(t);
      const { statusCode, body } = await request(pod.endpoint, {
        headers: { origin: 'http://localhost:5173', 'content-type': 'application/json' },
      });
      return `${statusCode} ${await body.text()}\n${await logged(pod, 'a request of this origin')}`;
    },
    says: [/^403 .*ALLOWED_ORIGINS/, /add it to ALLOWED_ORIGINS.*"origin":"http:\/\/localhost:5173"/],
  },
  'a client speaks the old sub-protocol': {
    make: async (t) => {
      const socket = await openSocket(t, (await samplePod(t)).url, { protocols: ['graphql-ws'] });
      const { code, reason } = await socket.expectClose();
      return `${code} ${reason}`;
    },
    says: [
      /^4406 Old sub-protocol: replace subscriptions-transport-ws by the npm package graphql-ws, which speaks graphql-transport-ws$/,
    ],
  },
  'a client sends what is no message': {
    make: async (t) => {
      const pod = await samplePod(t);
      const reasons: string[] = [];
      for (const message of [
        { type: 'start', id: '1', payload: {} },
        { type: 'subscribe', id: '1', payload: { query: '{ __typename }', variables: '{}' } },
      ]) {
        const socket = await openSocket(t, pod.url);
        await socket.init();
        socket.send(message);
        const { code, reason } = await socket.expectClose();
        reasons.push(`${code} ${reason}`);
      }
      return `${reasons.join('\n')}\n${await logged(pod, 'a connection was closed')}`;
    },
    says: [
      /^4400 type "start": this is graphql-transport-ws, where it is subscribe \(npm package graphql-ws\)$/m,
      /^4400 variables must be an object, got a string$/m,
      /^info: a connection was closed for what its client sent .*"reason":"type \\"start\\": this is graphql-transport-ws/m,
    ],
  },
  'a mutation is refused': {
    make: async (t) => {
      const files = {
        ...schemaOf(BOUND, `${TYPES} type Mutation { place: Order }`),
        'resolvers.ts': 'export const Mutation = { place: { authorize: () => false, resolve: () => null } };',
      };
      const pod = await startPod(t, { GRAPH: await graphFolder(t, files) });
      const { body } = await request(pod.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"mutation { place { id } }"}',
      });
      return body.text();
    },
    says: [/"message":"Not allowed to run \\"Mutation\.place\\"\.".*"code":"FORBIDDEN"/],
  },
  'a POST is a batch': {
    make: (t) =>
      reply(t, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '[{"query":"{ __typename }"}]',
      }),
    says: [/^400 .*Batches are not supported: send each request as a JSON object of its own \(Apollo Client: HttpLink/],
  },
  'a POST has no content type': {
    make: (t) => reply(t, { method: 'POST', body: '{"query":"{ __typename }"}' }),
    says: [/^415 A POST needs content-type: application\/json/],
  },
  'a GET comes without a header that pages cannot send': {
    make: (t) => reply(t, { method: 'GET' }, '?query={__typename}'),
    says: [/^400 A GET needs the header "apollo-require-preflight: true" \(or "content-type: application\/json"\)/],
  },
  'a browser opens the endpoint': {
    make: async (t) => {
      const pod = await samplePod(t);
      const { statusCode, headers } = await request(pod.endpoint, { headers: { accept: 'text/html,*/*;q=0.8' } });
      return `${statusCode} ${String(headers['location'])}`;
    },
    says: [/^302 \.\/$/],
  },
  'a POST is no request of GraphQL': {
    make: async (t) => {
      const pod = await samplePod(t);
      const post = async (body: string) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await request(pod.endpoint, { method: 'POST', headers, body });
        return `${answer.statusCode} ${await answer.body.text()}`;
      };
      const bodies = [
        '{query: x}',
        '',
        '5',
        '{"operation":"{ a }"}',
        '{"query":{}}',
        '{"query":"{ a }","variables":"{}"}',
      ];
      return (await Promise.all(bodies.map(post))).join('\n');
    },
    says: [
      /^400 .*"The body must be JSON, such as \{\\"query\\":\\"\{ __typename \}\\"\}: .*"/m,
      /^400 .*"The body must be a JSON object such as .*, got a number"/m,
      /^400 .*"query is missing: the text of the operation, as in \{\\"query\\":/m,
      /^400 .*"query must be a string, got an object"/m,
      /^400 .*"variables must be an object, got a string"/m,
    ],
  },
  'a GET has variables that are no JSON': {
    make: (t) => {
      const headers = { 'apollo-require-preflight': 'true' };
      return reply(t, { method: 'GET', headers }, '?query={__typename}&variables={a:1}');
    },
    says: [/^400 .*"variables in the URL must be JSON: /],
  },
  'health is looked for on the port of clients, and GraphQL on that of operators': {
    make: async (t) => {
      const pod = await samplePod(t);
      const urls = [new URL('/healthz', pod.endpoint), new URL('/graphql', pod.admin)];
      return (await Promise.all(urls.map(async (url) => (await request(url)).body.text()))).join('');
    },
    says: [
      /^Nothing here; GraphQL is at \/graphql, GraphiQL at \/; health and metrics are on ADMIN_PORT$/m,
      /^not found; GraphQL is on PORT; there are \/healthz, /m,
    ],
  },
  'a token comes without its scheme': {
    make: async (t) => {
      const pod = await startPod(t, { GRAPH: await graphFolder(t, schemaOf(BOUND)), JWT_SECRET: 's'.repeat(32) });
      const headers = { 'content-type': 'application/json', authorization: 'eyJhbGciOiJIUzI1NiJ9.e30.x' };
      const { body } = await request(pod.endpoint, { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
      return `${await body.text()}\n${await logged(pod, 'authenticate failed')}`;
    },
    says: [
      /"Token missing: send the header \\"authorization: Bearer <token>\\""/,
      /"no token was sent; a header Authorization begins with \\"Bearer \\""/,
    ],
  },
  'a GET accepts nothing that there is': {
    make: (t) =>
      reply(
        t,
        { method: 'GET', headers: { accept: 'text/csv', 'content-type': 'application/json' } },
        '?query={__typename}',
      ),
    says: [/^406 The header "accept: text\/csv"/, /application\/json/, /graphql-transport-ws/],
  },
  'a subscription comes as a POST': {
    make: (t) =>
      reply(t, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"subscription { order_updated(id: 1) { id } }"}',
      }),
    says: [/OPERATION_NOT_ALLOWED/, /WebSocket/],
  },
  'a setting is given as an option': {
    make: async () => (await refusalOf(['start', 'graph', '--admin-port', '5001'])).message,
    says: [
      /^unknown option "--admin-port"; ADMIN_PORT is a setting, an environment variable: ADMIN_PORT=… crier start; see/,
    ],
  },
  'an option is that of another program': {
    make: async () => {
      const mistakes = [
        ['start', '.', '--watch'],
        ['dev', '.', '-p', '5000'],
        ['start', '--verion'],
        ['tail', '--hlep'],
      ] as const;
      return (await Promise.all(mistakes.map((args) => refusalOf([...args])))).map(({ message }) => message).join('\n');
    },
    says: [
      /^unknown option "--watch"; the command is crier dev, which serves a changed graph at once; see/m,
      /^unknown option "-p"; did you mean "--port"\?; see/m,
      /^unknown option "--verion"; did you mean "--version"\?; see/m,
      /^unknown option "--hlep"; did you mean "--help"\?; see/m,
    ],
  },
  'a folder is given without a command': {
    make: async () => (await refusalOf(['examples/orders'])).message,
    says: [/^"examples\/orders" is a folder, not a command/, /did you mean "crier start examples\/orders"\?$/],
  },
  'an action of a command is misspelt': {
    make: async () => (await refusalOf(['dead-letters', 'lst'])).message,
    says: [/^expected one of list, replay, drop, got "lst"; did you mean "list"\?$/],
  },
  'a setting is looked for by another name': {
    make: async () => {
      const names = ['KAFKA_BROKER', 'BROKERS', 'kafka_url', 'CORS_ORIGIN'];
      return (await Promise.all(names.map((name) => refusalOf(['settings', name]))))
        .map(({ message }) => message)
        .join('\n');
    },
    says: [
      /^unknown setting "KAFKA_BROKER"; did you mean "KAFKA_BROKERS"\?$/m,
      /^unknown setting "BROKERS"; with it there are KAFKA_BROKERS$/m,
      /^unknown setting "kafka_url"; write KAFKA_BROKERS instead$/m,
      /^unknown setting "CORS_ORIGIN"; write ALLOWED_ORIGINS instead$/m,
    ],
  },
  'the file .env has a value that cannot be used': {
    make: async (t) => {
      const folder = await graphFolder(t, { ...schemaOf(BOUND), '.env': 'LOG_LEVEL=verbose\n' });
      const pod = spawnPod(t, {}, { arguments: ['start', '.'], folder });
      await pod.ended;
      return pod.log.trimEnd();
    },
    says: [/LOG_LEVEL: expected trace, .*, got "verbose"/, /^from \.env: LOG_LEVEL$/m],
  },
  'a line of the file .env is no assignment': {
    make: async (t) => {
      const text = '# Kafka\nGREETING="two\nlines"\n\nKAFKA_BROKERS: localhost:9092\nLOG_LEVEL=warn\n';
      const folder = await graphFolder(t, { ...schemaOf(BOUND), '.env': text });
      const pod = spawnPod(t, {}, { arguments: ['check', '.'], folder });
      await pod.ended;
      return pod.log.trimEnd();
    },
    says: [/^crier: \.env: expected lines such as PORT=5000, but line 5 is none$/],
  },
  'a graph has no samples and no Kafka': {
    make: async (t) =>
      logged(await startPod(t, { GRAPH: await graphFolder(t, schemaOf(BOUND)) }), 'no event will come'),
    says: [
      /no event will come: without KAFKA_BROKERS and REDIS_URL/,
      /add the file: export function\* records\(\) .*topic: "orders", value: \{"order":\{"id":"1"\}\}/,
    ],
  },
  'a schema has the syntax of another language': {
    make: async (t) => {
      const schemas = [
        'type Order { id: ID! }\ntype Subscription {\n  order: Order @kafka("orders")\n}',
        'type Subscription {\n  order: Order @kafka(topic: “orders”)\n}',
        'enum State { "OPEN" "PAID" }',
        'union Item = Book, Toy',
        'type Order = { id: ID! }',
        'type Order { order-id: ID! }',
        'type Order { id ID! }',
        'type Subscription {\n  order @kafka(topic: "orders"): Order\n}',
        'type Subscription {\n  order(id: ID! : Order @kafka(topic: "orders")\n}',
        '"""\nOrders\ntype Order { id: ID! }',
        'type Order { id: ID! }\nsubscription {\n  order(id: ID!): Order\n}',
        '{"type":"record","name":"Order"}',
      ];
      return (await Promise.all(schemas.map((text) => refusal(t, { 'schema.graphql': text })))).join('\n');
    },
    says: [
      /^schema\.graphql:3:23: .*An argument begins with its name, as in topic: "orders"\.$/m,
      /^schema\.graphql:2:\d+: .*Write straight quotes: "…"\.$/m,
      /Values of an enum have no quotes\.$/m,
      /Separate the members of a union by \|\.$/m,
      /found "="|Unexpected "="\. Remove it: \{ follows the name\.$/m,
      /A name has no -: write order_id\.$/m,
      /Write id: ID\.$/m,
      /The type comes first: order: … @kafka\(…\)\.$/m,
      /Close the \( before it: add a \)\.$/m,
      /The """ of line 1 is not closed: add """\.$/m,
      /Line 2 begins an operation: a schema has type Subscription \{ … \}\.$/m,
      /This is JSON, and a schema is SDL, .*; crier init --sample writes one from records\.$/m,
    ],
  },
  'a default is none of its type': {
    make: (t) => refusal(t, schemaOf('order(n: Int = "a", id: ID! = null): Order @kafka(topic: "orders")')),
    says: [
      /^schema\.graphql:3: Subscription\.order\(n:\): the default "a" is no Int; correct or remove it$/m,
      /^schema\.graphql:3: Subscription\.order\(id:\): the default null is no ID!; correct or remove it$/m,
    ],
  },
  'a directive lacks its argument, or has another': {
    make: async (t) => {
      const mutation = 'type Mutation {\n  place(id: ID!): Order @kafkaPublish\n}';
      const texts = [
        schemaOf('order: Order @redis(topic: "orders")'),
        schemaOf(BOUND, `${TYPES}\n${mutation}`),
        schemaOf('order: Order @kafka(topic: "orders", where: [{ path: "status", value: "PAID" }])'),
        { 'schema.graphql': '#import "./types.graphql"\ntype Subscription { order: Order @kafka(topic: "orders") }' },
      ].map((files) => refusal(t, files));
      return (await Promise.all(texts)).join('\n');
    },
    says: [
      /^schema\.graphql:3: Unknown argument "topic" on directive "@redis"; it has channel,/m,
      /^schema\.graphql:3: Directive "@redis" needs channel; write @redis\(channel: "…"\)$/m,
      /^schema\.graphql:3: Directive "@kafkaPublish" needs topic; write @kafkaPublish\(topic: "…"\)\n(?!.*Mutation)/m,
      /it compares with an argument or a claim, not with a constant: declare an argument$/m,
      /Unknown type "Order"; #import is a comment here: move the definitions of that file into schema\.graphql$/m,
    ],
  },
  'an import is no file': {
    make: async (t) => {
      const texts = ['./util', 'fs/promis'].map((specifier) => {
        const code = `import { x } from '${specifier}';\nexport const Order = { total: x };`;
        return refusal(t, { ...schemaOf(BOUND), 'resolvers.ts': code, 'util/index.ts': 'export const x = () => 1;' });
      });
      return (await Promise.all(texts)).join('\n');
    },
    says: [
      /^resolvers\.ts:1: imports "\.\/util", which is a folder; write the name of a file in it: \.\/util\/index\.ts$/m,
      /^resolvers\.ts: imports "fs\/…", which Node's module fs does not have; correct the import$/m,
    ],
  },
  'a module has syntax that is not compiled': {
    make: async (t) => {
      const texts = ['export const Order = { total: () => <b>1</b> };', '@x\nclass A {}'].map((code) =>
        refusal(t, { ...schemaOf(BOUND), 'resolvers.ts': code }),
      );
      return (await Promise.all(texts)).join('\n');
    },
    says: [
      /^resolvers\.ts:1: .*; if this is JSX, which is not compiled, write it without$/m,
      /^resolvers\.ts:1: The syntax "decorators" is not compiled; write it without\n\n> 1 \| @x\n.*(?!plugin)/m,
    ],
  },
  'a module waits for ever at its top': {
    make: async (t) => {
      const code = 'await new Promise(() => {});\nexport const Order = { total: () => 1 };';
      return refusedStart(t, { GRAPH: await graphFolder(t, { ...schemaOf(BOUND), 'resolvers.js': code }) });
    },
    says: [/^crier: resolvers\.js: has not been loaded within 20000 ms: an await at its top does not end/],
  },
  'a module ends the process': {
    make: async (t) => {
      const files = { ...schemaOf(BOUND), 'resolvers.js': 'process.exit(0);\nexport const Order = {};' };
      const pod = spawnPod(t, { GRAPH: await graphFolder(t, files) });
      await pod.ended;
      return pod.log;
    },
    says: [/^crier: resolvers\.js: ends the process with code 0 while it is loaded; remove process\.exit\(\)$/m],
  },
  'a setting is written as another program would have it': {
    make: async (t) => {
      const settings = {
        KAFKA_BROKERS: 'kafka://one:9092, two',
        KAFKA_TLS: 'yes',
        KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
        REDIS_URL: 'localhost:6379',
        DRAIN_SPREAD_MS: '10s',
        MAX_MESSAGE_BYTES: '1MB',
        ROLE: '"all"',
      };
      const first = await refusedStart(t, settings);
      return `${first}\n${await refusedStart(t, { KAFKA_BROKERS: settings.KAFKA_BROKERS, REDIS_URL: settings.REDIS_URL })}`;
    },
    says: [
      /KAFKA_TLS: .*, got "yes"; write true$/m,
      /KAFKA_SASL_MECHANISM: .*, got "SCRAM-SHA-512"; write scram-sha-512$/m,
      /DRAIN_SPREAD_MS: .*, got "10s"; write 10000$/m,
      /MAX_MESSAGE_BYTES: .*, got "1MB"; write 1048576$/m,
      /ROLE: .*; write all$/m,
      /KAFKA_BROKERS: .*, got "kafka:\/\/one:9092"; write one:9092$/m,
      /KAFKA_BROKERS: .*, got "two"; write two:9092$/m,
      /REDIS_URL: .*; write redis:\/\/ before the host \(it is not shown/m,
    ],
  },
  'GRAPH is the schema, not its folder': {
    make: async (t) => startRefusal(t, { GRAPH: join(await graphFolder(t, schemaOf(BOUND)), 'schema.graphql') }),
    says: [/^\S+\/schema\.graphql: is a file; name its folder, \/\S+$/],
  },
  'the URL of a backend that the graph does not name': {
    make: async (t) => {
      const settings = { BACKEND_CUSTOMS_URL: 'http://customs' };
      const pod = await startPod(t, { GRAPH: await graphFolder(t, schemaOf(BOUND)), ...settings });
      return logged(pod, 'BACKEND_CUSTOMS_URL');
    },
    says: [/; unset it, or name the backend in context\.ts: export const backends = \['customs'\]/],
  },
  'Redis wants a password, or is no Redis': {
    make: async (t) => {
      const redis = await redisServer(t, { flags: ['--requirepass', 'secret'] });
      const closing = createServer((socket) => socket.on('data', () => socket.destroy())).listen(0, '127.0.0.1');
      t.after(() => void closing.close());
      await new Promise((resolve) => closing.once('listening', resolve));
      const { port } = closing.address() as AddressInfo;
      const texts = [redis.url, `redis://127.0.0.1:${port}`].map((url) =>
        logged(spawnPod(t, { ROLE: 'gateway', REDIS_URL: url }), 'the connection to Redis failed'),
      );
      return (await Promise.all(texts)).join('\n');
    },
    says: [
      /connecting again; the server expects a password: set REDIS_PASSWORD \{/,
      /connecting again; if the server uses TLS, write rediss:\/\/ in REDIS_URL; else correct host and port: no Redis answers there \{.*closed before Redis had answered/,
    ],
  },
  'a token is of another issuer': {
    make: async (t) => {
      const secret = 's'.repeat(32);
      const settings = { JWT_SECRET: secret, JWT_ISSUER: 'https://login.example.com' };
      const pod = await startPod(t, { GRAPH: await graphFolder(t, schemaOf(BOUND)), ...settings });
      const token = await new SignJWT({ iss: 'https://other.example.com' })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime('5m')
        .sign(Buffer.from(secret));
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      await request(pod.endpoint, { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
      return logged(pod, 'authenticate failed');
    },
    says: [/"unexpected \\"iss\\" claim value; JWT_ISSUER must name its issuer"/],
  },
  'an operation is empty, or has another name, or resumes wrongly': {
    make: async (t) => {
      const socket = await openSocket(t, (await samplePod(t)).url);
      await socket.init();
      const query = 'subscription A { order_updated(id: 1) { id } }';
      const payloads = [{ query: ' ' }, { query, operationName: 'B' }, { query, extensions: { resume: 'x' } }];
      const replies: string[] = [];
      for (const [i, payload] of payloads.entries()) {
        socket.send({ id: String(i), type: 'subscribe', payload });
        replies.push(JSON.stringify((await socket.next()).payload));
      }
      return replies.join('\n');
    },
    says: [
      /"Syntax Error: the query is empty: it needs an operation, such as \{ __typename \}"/,
      /"The document has no operation \\"B\\"; it has \\"A\\"\."/,
      /"extensions\.resume must be an object such as \{ \\"cursor\\": null \}, got a string"/,
    ],
  },
  'a request has another method': {
    make: (t) => reply(t, { method: 'PATCH' }),
    says: [/^405 Send a POST or a GET; PUT and DELETE are for streams of many operations$/m],
  },
  'an argument of a command is one too many, or no such thing': {
    make: async (t) => {
      const folder = await graphFolder(t, { ...schemaOf(BOUND), 'records.jsonl': '{}\n' });
      const mistakes = [
        ['check', 'one', 'two'],
        ['tail', 'subscription', '{', 'order', '}'],
        ['tail', join(folder, 'records.jsonl')],
        ['dead-letters', 'replay', 'orders'],
        ['publish', 'my orders'],
        ['codegen', folder, '--out', folder],
        ['init', join(folder, 'new'), '--sample', folder],
      ] as const;
      const texts: string[] = [];
      for (const args of mistakes) texts.push((await refusalOf([...args])).message);
      return texts.join('\n');
    },
    says: [
      /^unexpected argument "two"; crier check takes one, in quotes if it has spaces; see crier check --help$/m,
      /^unexpected argument "\{"; crier tail takes one, in quotes if it has spaces;/m,
      /^<subscription>: expected a subscription, got the name of a file; pass its text: "\$\(cat \S+\)"$/m,
      /^unexpected argument "orders"; write --topic orders;/m,
      /^<topic>: expected letters, digits, ".", "_" and "-", got "my orders"$/m,
      /^--out: \S+ is a folder; name a file in it: \S+\/types\.ts$/m,
      /^--sample: \S+ is a folder; name a file of records$/m,
    ],
  },
};

describe('a mistake of the first day', { concurrency: 2 }, () => {
  for (const [name, { make, says }] of Object.entries(MISTAKES)) {
    it(`is answered with what is wrong, where, and the fix: ${name}`, async (t) => {
      const text = await make(t);
      t.diagnostic(text);
      for (const part of says) assert.match(text, part);
    });
  }
});
