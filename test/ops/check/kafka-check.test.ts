import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { startKafkaBroker } from '../../../stack/kafka-broker.ts';
import type { KafkaBroker } from '../../../stack/kafka-broker.ts';
import { freePorts } from '../../../stack/port.ts';
import { createTopics } from '../../../stack/topics.ts';
import { checkKafka } from '../../../src/ops/check/kafka-check.ts';
import { linesOf } from '../../../src/tools/check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { checked } from './checked.ts';
import { FETCH, KafkaProxy, LIST_OFFSETS, METADATA, OFFSET_FETCH } from './kafka-proxy.ts';
import { PASSWORD, aclEntries, startSecureKafka } from './secure-kafka.ts';
import type { Right, SecureKafka } from './secure-kafka.ts';

const USERS: Readonly<Record<string, readonly Right[]>> = {
  worker: [
    ['TOPIC', 'orders', 'READ'],
    ['TOPIC', 'dead', 'WRITE'],
    ['GROUP', 'crier', 'READ'],
  ],
  describer: [
    ['TOPIC', 'orders', 'DESCRIBE'],
    ['TOPIC', 'dead', 'DESCRIBE'],
    ['GROUP', 'crier', 'DESCRIBE'],
  ],
  nobody: [],
};

type Listener = 'plain' | 'sasl' | 'tls' | 'saslTls' | 'expired' | 'oauth' | 'misadvertised';

const login = (user: string, KAFKA_SASL_MECHANISM = 'plain', KAFKA_SASL_PASSWORD = PASSWORD) => ({
  KAFKA_SASL_MECHANISM,
  KAFKA_SASL_USERNAME: user,
  KAFKA_SASL_PASSWORD,
});

const ORDERS = { graph: 'orders', all: ['orders'], withState: [], published: [] };

const TLS = { KAFKA_TLS: 'true' };

describe('crier check against a Kafka with TLS, SASL and an authorizer', () => {
  let kafka: SecureKafka;
  let admin: Admin;

  before(async () => {
    kafka = await startSecureKafka(Object.keys(USERS));
    admin = new kafkajs.Kafka({ brokers: [kafka.plain], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: 'orders' }, { topic: 'dead' }] });
    const acl = Object.entries(USERS).flatMap(([user, rights]) => aclEntries(user, rights));
    await admin.createAcls({ acl });
  });

  after(async () => {
    await admin.disconnect();
    await kafka.stop();
  });

  const settingsOf = (listener: Listener, settings: Readonly<Record<string, string>>) => ({
    KAFKA_BROKERS: kafka[listener],
    KAFKA_DEAD_LETTER_TOPIC: 'dead',
    KAFKA_GROUP_ID: 'crier',
    REDIS_URL: 'redis://127.0.0.1:1',
    ...settings,
  });

  /** Lines that are not `ok`, without the address. */
  async function problems(listener: Listener, settings: Readonly<Record<string, string>>): Promise<string[]> {
    const findings = await checkKafka(readConfig(settingsOf(listener, settings)), ORDERS);
    const bad = linesOf(findings.filter(({ status }) => status === 'failed'));
    assert.doesNotMatch(bad, /hunter2|hunter3/);
    return bad.replaceAll(kafka[listener], '<broker>').split('\n').slice(0, -1);
  }

  const refused = (reason: string, fix: string) => [`failed   Kafka: no connection to <broker>: ${reason}; ${fix}`];
  const ofSasl = 'with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD';
  const connections: readonly (readonly [what: string, Listener, Readonly<Record<string, string>>, string[]])[] = [
    ['neither, where neither is expected', 'plain', {}, []],
    ['PLAIN', 'sasl', login('worker'), []],
    ['SCRAM', 'sasl', login('worker', 'scram-sha-512'), []],
    [
      'nothing, where SASL is expected',
      'sasl',
      {},
      refused(
        'Closed connection',
        `this listener expects SASL: set KAFKA_SASL_MECHANISM=plain or scram-sha-512, ${ofSasl}`,
      ),
    ],
    [
      'nothing, where TLS is expected',
      'tls',
      {},
      refused('Closed connection', 'this listener uses TLS: set KAFKA_TLS=true'),
    ],
    [
      'nothing, where TLS and SASL are expected',
      'saslTls',
      {},
      refused(
        'Closed connection',
        `this listener uses TLS: set KAFKA_TLS=true; this listener expects SASL: set KAFKA_SASL_MECHANISM=plain, ${ofSasl}`,
      ),
    ],
    [
      'TLS, where it is not expected',
      'plain',
      TLS,
      refused(
        'Connection error: Client network socket disconnected before secure TLS connection was established',
        'this listener does not use TLS: unset KAFKA_TLS, or name a TLS listener in KAFKA_BROKERS',
      ),
    ],
    [
      'SASL, where it is not expected',
      'plain',
      login('worker'),
      refused(
        'Request is not valid given the current SASL state',
        'this listener does not use SASL: unset KAFKA_SASL_MECHANISM, or name a SASL listener in KAFKA_BROKERS',
      ),
    ],
    [
      'a mechanism that is not offered',
      'sasl',
      login('worker', 'scram-sha-256'),
      refused(
        'The broker does not support the requested SASL mechanism',
        'this listener expects SASL: set KAFKA_SASL_MECHANISM=plain or scram-sha-512',
      ),
    ],
    [
      'nothing, where SASL with tokens is expected',
      'oauth',
      {},
      refused(
        'Closed connection',
        'this listener expects SASL: set KAFKA_SASL_MECHANISM=oauthbearer, with KAFKA_SASL_TOKEN_PROVIDER',
      ),
    ],
    [
      'a password, where SASL with tokens is expected',
      'oauth',
      login('worker'),
      refused(
        'The broker does not support the requested SASL mechanism',
        'this listener expects SASL: set KAFKA_SASL_MECHANISM=oauthbearer',
      ),
    ],
    [
      'a wrong password with PLAIN',
      'sasl',
      login('worker', 'plain', 'hunter3'),
      refused(
        'SASL PLAIN authentication failed: Authentication failed: Invalid username or password',
        'correct KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD',
      ),
    ],
    [
      'a wrong password with SCRAM',
      'sasl',
      login('worker', 'scram-sha-512', 'hunter3'),
      refused(
        'SASL SCRAM SHA512 authentication failed: Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512',
        'correct KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD',
      ),
    ],
    [
      'TLS with an authority that is not trusted',
      'tls',
      TLS,
      refused(
        'Connection error: self-signed certificate',
        'if the authority of this certificate is your own, name the PEM file of the authority in KAFKA_TLS_CA_FILE',
      ),
    ],
    [
      'none, where the broker answers, but advertises an address that does not',
      'misadvertised',
      {},
      [
        'failed   Kafka: no connection to the advertised address 127.0.0.1:1 (KAFKA_BROKERS: <broker>): Connection error: connect ECONNREFUSED 127.0.0.1:1; make all brokers reachable under the addresses that they advertise',
      ],
    ],
  ];
  for (const [what, listener, settings, expected] of connections) {
    it(`names the settings to correct: ${what}`, async () => {
      // Node 24 appends a hint of its own.
      const lines = (await problems(listener, settings)).map((line) =>
        line.replace(/; if the root CA [^;]*--use-system-ca/, ''),
      );
      assert.deepEqual(lines, expected);
    });
  }

  it('names each right that a user lacks, beside the right to describe', async () => {
    assert.deepEqual(await problems('sasl', login('describer')), [
      'failed   Kafka: this user may see, but not read, topics of the graph: orders; grant Read on them',
      'failed   Kafka: this user may not join the group crier; grant Read on the group, or correct KAFKA_GROUP_ID',
      'failed   Kafka: this user may not write to the dead-letter topic dead; grant Write on it, or correct KAFKA_DEAD_LETTER_TOPIC',
    ]);
  });

  it('names what a user without any right lacks', async () => {
    assert.deepEqual(await problems('sasl', login('nobody')), [
      'failed   Kafka: topics of the graph that do not exist, or that this user may not see: orders; create them, correct the topic in @kafka, or grant Read on them',
      'failed   Kafka: this user may not join the group crier; grant Read on the group, or correct KAFKA_GROUP_ID',
      'failed   Kafka: the dead-letter topic dead does not exist, or this user may not see it, and may not create it: Not authorized to access topics: [Topic authorization failed]; create it, grant Write and Create on it, or correct KAFKA_DEAD_LETTER_TOPIC',
    ]);
  });

  it('names a dead-letter topic that a worker may create, but not write to', async () => {
    await admin.createAcls({ acl: aclEntries('describer', [['TOPIC', 'later', 'CREATE']]) });
    const settings = { ...login('describer'), KAFKA_DEAD_LETTER_TOPIC: 'later' };
    assert.match((await problems('sasl', settings)).at(-1)!, /this user may not write to the dead-letter topic later;/);
    assert.ok(!(await admin.listTopics()).includes('later'));
  });

  it('names a host that is not in the certificate and an expired certificate, and accepts TLS with an authority in KAFKA_TLS_CA_FILE', async (t) => {
    const GRAPH = await graphFolder(t, {
      'schema.graphql': 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }',
    });
    const check = async (brokers: string) => {
      const settings = settingsOf('saslTls', {
        ...TLS,
        ...login('worker'),
        GRAPH,
        KAFKA_TLS_CA_FILE: kafka.certificates,
      });
      const { hasFailed, lines } = await checked({ ...settings, KAFKA_BROKERS: brokers });
      assert.equal(hasFailed, true, 'there is no Redis');
      return lines.filter((line) => /^\w+ +Kafka: /.test(line));
    };
    assert.deepEqual(await check(kafka.saslTls), [
      `ok       Kafka: connected to ${kafka.saslTls}`,
      'ok       Kafka: the topics of the graph exist, and this user may read them: orders',
      'ok       Kafka: this user may join the group crier',
      'ok       Kafka: the dead-letter topic dead exists, and this user may write to it',
    ]);
    const [other] = await check(kafka.saslTls.replace('127.0.0.1', 'localhost'));
    assert.match(other!, /altnames.*; name the brokers in KAFKA_BROKERS as the certificate does$/);
    const [expired] = await check(kafka.expired);
    assert.match(expired!, /certificate has expired; renew the certificate of the brokers/);
  });

  it('says that it cannot tell whether topics are compacted, if this user may not read their configuration', async () => {
    const config = readConfig(settingsOf('sasl', login('worker')));
    const findings = await checkKafka(config, { ...ORDERS, withState: ['orders'] });
    const [text] = linesOf(findings).match(/^\w+ +Kafka: whether .*$/m)!;
    assert.match(text, /^skipped .* compacted \(orders\) cannot be read: .*; grant DescribeConfigs on them/);
  });

  it('names the topics of mutations that do not exist, or that this user may not write to', async () => {
    const config = readConfig(settingsOf('sasl', login('worker')));
    const [refused] = (await checkKafka(config, { ...ORDERS, published: ['dead', 'orders', 'none'] })).slice(-1);
    assert.equal(refused!.status, 'failed');
    assert.match(
      refused!.text,
      /^Kafka: topics of mutations .*: orders, none; create them, correct the topic in @kafkaPublish/,
    );
    const [written] = (await checkKafka(config, { ...ORDERS, published: ['dead'] })).slice(-1);
    assert.deepEqual(linesOf([written!]), 'ok       Kafka: this user may write to the topics of mutations: dead\n');
  });

  it('writes nothing, commits nothing and leaves no group', async () => {
    for (const topic of ['orders', 'dead'])
      assert.ok((await admin.fetchTopicOffsets(topic)).every(({ high }) => high === '0'));
    assert.deepEqual((await admin.listGroups()).groups, []);
  });
});

describe('crier check against a Kafka that fails after the connection', () => {
  let kafka: KafkaBroker;
  let proxy: KafkaProxy;
  let address: string;

  before(async () => {
    const [port] = (await freePorts(1)) as [number];
    proxy = new KafkaProxy(port);
    address = await proxy.start();
    kafka = await startKafkaBroker({ port, properties: [`advertised.listeners=PLAINTEXT://${address}`] });
    await createTopics(kafka.address, [{ topic: 'orders' }]);
  });

  after(async () => {
    proxy.close();
    await kafka.stop();
  });

  const cases: readonly (readonly [what: string, request: number | undefined, expected: RegExp | undefined])[] = [
    ['nothing, where every request is answered', undefined, undefined],
    [
      'the topic whose offsets cannot be read',
      LIST_OFFSETS,
      /^failed {3}Kafka: the offsets of the topic orders cannot be read: .+; make its brokers reachable under the addresses that they advertise\n$/,
    ],
    [
      'the group whose commits cannot be read',
      OFFSET_FETCH,
      /^failed {3}Kafka: the commits of the group crier-orders cannot be read: .+; make its coordinator reachable under the address that it advertises\n$/,
    ],
    [
      'brokers that stopped answering',
      FETCH,
      /^failed {3}Kafka: the brokers stopped answering: .+; make all brokers reachable under the addresses that they advertise\n$/,
    ],
  ];
  it('names a broker that ends the connection, and its log', async () => {
    proxy.refuse(METADATA);
    const config = readConfig({ KAFKA_BROKERS: address, REDIS_URL: 'redis://127.0.0.1:1' });
    const [finding] = await checkKafka(config, ORDERS);
    const fix = 'this broker has ended the connection: its log says why';
    assert.equal(finding!.text, `Kafka: no connection to ${address}: Closed connection; ${fix}`);
  });

  for (const [what, request, expected] of cases) {
    it(`names ${what}`, async () => {
      proxy.refuse(request);
      const config = readConfig({ KAFKA_BROKERS: address, REDIS_URL: 'redis://127.0.0.1:1' });
      const [connected, ...findings] = await checkKafka(config, ORDERS);
      assert.equal(connected?.status, 'ok');
      const bad = linesOf(findings.filter(({ status }) => status === 'failed'));
      if (expected) assert.match(bad, expected);
      else assert.equal(bad, '');
    });
  }
});
