import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { freePorts, isPortTaken } from '../../stack/port.ts';
import { variables } from '../../src/config/variables.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';
import type { PodProcess } from './pod-process.ts';
import { startPod, startRefusal } from './pod-server.ts';

/** No server listens there, because port 1 is reserved. */
const UNUSED_ADDRESS = '127.0.0.1:1';

/** Lines of standard error of a pod that refuses to start. */
async function refusal(pod: PodProcess, code = 1): Promise<string[]> {
  assert.equal(await pod.ended, code);
  assert.equal(pod.output, '');
  assert.doesNotMatch(pod.log, /^\s+at /m);
  return pod.log.trimEnd().split('\n');
}

/** Lines of the reason with which a pod refuses to start. */
async function refusedWith(t: TestContext, settings: Readonly<Record<string, string>>): Promise<string[]> {
  const reason = await startRefusal(t, settings);
  assert.doesNotMatch(reason, /^\s+at /m);
  return reason.split('\n');
}

async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

describe('the command line', { concurrency: 4 }, () => {
  for (const word of ['version', '--version', '-v']) {
    it(`prints its version, with the revision of a build that knows it: ${word}`, async (t) => {
      const pod = spawnPod(t, {}, { arguments: [word] });
      assert.equal(await pod.ended, 0);
      assert.match(pod.output, /^\d+\.\d+\.\d+(\+\w+(-dirty)?)?\n$/);
    });
  }

  it('listens on --port, whatever PORT says', async (t) => {
    const [port] = await freePorts(1);
    const pod = await spawnPod(t, { PORT: 'abc' }, { arguments: ['--port', `${port}`] }).started();
    assert.equal(new URL(pod.endpoint).port, `${port}`);
  });

  for (const [args, message] of [
    [['--port=abc'], '--port: expected a port, 0 to 65535, got "abc"'],
    [['start', '--prot', '1'], 'unknown option "--prot"; did you mean "--port"?; see crier start --help'],
    [
      ['start', '--log-level=debug'],
      'unknown option "--log-level"; LOG_LEVEL is a setting, an environment variable: LOG_LEVEL=… crier start; see crier start --help',
    ],
  ] as const) {
    it(`refuses ${args.join(' ')} and says what to write`, async (t) => {
      assert.deepEqual(await refusal(spawnPod(t, {}, { arguments: args }), 2), [`crier: ${message}`]);
    });
  }

  it('refuses an unknown command and names the commands', async (t) => {
    const lines = await refusal(spawnPod(t, {}, { arguments: ['tial', 'subscription'] }), 2);
    assert.equal(lines.length, 1);
    assert.match(
      lines[0]!,
      /^crier: unknown command "tial"; commands are dev, start, .*tail.*; did you mean "tail"\?$/,
    );
  });

  it('serves the graph that follows `start`, whatever GRAPH says', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': 'type Subscription { a: Int @kafka(topic: "a") }\n' });
    const settings = { GRAPH: '/nowhere' };
    const pod = await spawnPod(t, settings, { arguments: ['start', folder] }).started();
    assert.match(pod.output, new RegExp(`"graph":"${basename(folder)}"`));
    const lines = await refusal(spawnPod(t, {}, { arguments: ['start', folder, 'more'] }), 2);
    assert.match(lines[0]!, /unexpected argument "more"; crier start takes one, in quotes if it has spaces;/);
  });
});

describe('a configuration that cannot be used', { concurrency: 4 }, () => {
  it('is rejected with one line for each faulty variable', async (t) => {
    const refusable = Object.entries(variables).filter(([, { parse }]) => !parse('no such value'));
    assert.ok(refusable.length > 30);
    const lines = await refusal(spawnPod(t, Object.fromEntries(refusable.map(([name]) => [name, 'no such value']))));
    assert.deepEqual(lines, [
      ...refusable.map(([name, { expects, isSecret }], i) => {
        const got = isSecret ? 'a value that may hold a password and is not shown' : '"no such value"';
        return `${i === 0 ? 'crier: ' : ''}${name}: expected ${expects}, got ${got}`;
      }),
    ]);
  });

  const cases: readonly (readonly [Readonly<Record<string, string>>, readonly RegExp[]])[] = [
    [
      { ROLE: 'worker', KAFKA_SASL_MECHANISM: 'plain' },
      [/^REDIS_URL: .*ROLE=worker/, /^KAFKA_BROKERS: .*ROLE=worker/, /^KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD: /],
    ],
    [{ ROLE: 'worker', KAFKA_BROKERS: 'kafka' }, [/^REDIS_URL: .*ROLE=worker/, /^KAFKA_BROKERS: expected host:port/]],
    [{ ROLE: 'gateway' }, [/^REDIS_URL: .*ROLE=gateway/]],
    [{ REDIS_URL: 'localhost' }, [/^KAFKA_BROKERS: .*REDIS_URL/, /^REDIS_URL: expected redis:\/\//]],
    [{ KAFKA_BROKERS: UNUSED_ADDRESS, REDIS_URL: 'redis://h:1,redis://h:1' }, [/^REDIS_URL: names several servers/]],
    [{ BACKEND_UAA_URL: 'ftp://uaa' }, [/^BACKEND_UAA_URL: expected an http/]],
  ];
  for (const [settings, expected] of cases) {
    it(`is rejected with one line per mistake: ${JSON.stringify(settings)}`, async (t) => {
      const lines = await refusedWith(t, settings);
      assert.equal(lines.length, expected.length, lines.join('\n'));
      expected.forEach((pattern, i) => assert.match(lines[i]!, pattern));
    });
  }
});

describe('a variable that looks like a setting and is none', () => {
  it('is named with the nearest setting, and the pod starts', async (t) => {
    const typos = {
      MAX_QUEU_BYTES: '2048',
      BACKEND_ONLINE_AUCTIN_URL: 'http://127.0.0.1:1',
      KAFKA_PORT: 'tcp://10.0.0.1:1',
    };
    const pod = await startPod(t, typos);
    assert.deepEqual(
      pod.lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg),
      [
        'MAX_QUEU_BYTES is not a setting; did you mean "MAX_QUEUE_BYTES"?',
        'BACKEND_ONLINE_AUCTIN_URL names no backend of the graph "auction"; did you mean "BACKEND_ONLINE_AUCTION_URL"?',
      ],
    );
  });
});

describe('a graph that cannot work', { concurrency: 4 }, () => {
  const order = 'type Order { order_id: ID! }';
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly RegExp[]])[] = [
    ['a folder without schema.graphql', {}, [/schema\.graphql: not found; set GRAPH/]],
    [
      'SDL that does not parse',
      { 'schema.graphql': 'type Order {\n  id: \n}' },
      [/schema\.graphql:3:1: .*Syntax Error/],
    ],
    [
      'three kinds of faulty bindings',
      {
        'schema.graphql': `${order}
type Subscription {
  one(order: ID!): Order @kafka(topic: "orders", match: [{ arg: "ordr", path: "order_id" }])
  two(order: ID!): Order @kafka(topic: "orders", match: [{ arg: "order", path: "orderId" }])
  three: Order
}`,
      },
      [
        /schema\.graphql:3: Subscription\.one: match of @kafka names the argument "ordr".*did you mean "order"/,
        /^schema\.graphql:4: Subscription\.two: .*did you mean "order_id"/,
        /^schema\.graphql:5: Subscription\.three: has no source.*add @kafka/,
      ],
    ],
    [
      'a resolver for an unknown field',
      {
        'schema.graphql': `${order}\ntype Subscription { one: Order @kafka(topic: "orders") }`,
        'resolvers.ts': 'export const Order = { ordre_id: () => 1 };',
      },
      [/resolvers\.ts: .*ordre_id.*order_id/],
    ],
    [
      'TypeScript that does not parse',
      {
        'schema.graphql': `${order}\ntype Subscription { one: Order @kafka(topic: "orders") }`,
        'resolvers.ts': '\nexport const Order = {;\n',
      },
      [/resolvers\.ts:2: /],
    ],
  ];
  for (const [what, files, expected] of cases) {
    it(`stops the start and reports location, reason and fix: ${what}`, async (t) => {
      const lines = await refusedWith(t, { GRAPH: await graphFolder(t, files) });
      expected.forEach((pattern, i) => assert.match(lines[i] ?? '', pattern));
    });
  }

  it('stops the start when the folder does not exist', async (t) => {
    const [line] = await refusal(spawnPod(t, { GRAPH: '/nonexistent/graph' }));
    assert.match(line!, /^crier: \/nonexistent\/graph: no such folder; set GRAPH/);
  });
});

describe('ports', { concurrency: 4 }, () => {
  for (const name of ['PORT', 'ADMIN_PORT']) {
    it(`refuses a ${name} that is in use and leaves nothing running`, async (t) => {
      const port = await takenPort(t);
      const lines = await refusal(spawnPod(t, { [name]: `${port}` }));
      assert.deepEqual(lines, [
        `crier: ${name}: port ${port} on 127.0.0.1 is in use; end the program that listens there, or set ${name} to another one, or to 0 for any free one`,
      ]);
    });
  }

  for (const name of ['HOST', 'ADMIN_HOST']) {
    it(`refuses a ${name} of another machine`, async (t) => {
      const [line] = await refusedWith(t, { [name]: '192.0.2.1' });
      assert.match(line!, new RegExp(`^${name}: expected an address of this machine, got "192\\.0\\.2\\.1"`));
    });
  }

  it('serves the admin paths on ADMIN_HOST only, which is 127.0.0.1 by default', async (t) => {
    const health = (host: string, pod: Pod) => fetch(`http://${host}:${new URL(pod.admin).port}/healthz`);
    const isRefused = (error: Error) => /ECONNREFUSED/.test(String(error.cause));
    const byDefault = await startPod(t, { HOST: '127.0.0.2' });
    assert.equal((await health('127.0.0.1', byDefault)).status, 200);
    await assert.rejects(health('127.0.0.2', byDefault), isRefused);
    const moved = await startPod(t, { ADMIN_HOST: '127.0.0.2' });
    assert.equal((await health('127.0.0.2', moved)).status, 200);
    await assert.rejects(health('127.0.0.1', moved), isRefused);
  });

  it('uses free ports for 0, prints them, and releases them', async (t) => {
    const pod = await startPod(t, {});
    const ports = [pod.endpoint, pod.admin].map((url) => Number(new URL(url).port));
    assert.ok(ports.every((port) => port > 0));
    await pod.stop();
    for (const port of ports) assert.equal(await isPortTaken(port), false);
  });
});

describe('a graph without samples', () => {
  it('runs without servers and warns that no event will arrive', async (t) => {
    const schema = 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }';
    const folder = await graphFolder(t, { 'schema.graphql': schema });
    const pod = await startPod(t, { GRAPH: folder });
    assert.ok(pod.output.includes(`graph "${basename(folder)}"`));
    assert.match(pod.output, /subscription \{\n {4}order \{\n {6}id\n/);
    await pod.until('a line', () => pod.lines.length > 0);
    assert.match(
      pod.lines[0]!.msg,
      /no event will come: without KAFKA_BROKERS and REDIS_URL the records come from samples\.ts/,
    );
  });
});
