import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import kafkajs from 'kafkajs';
import { freePorts, isPortTaken } from '../../stack/port.ts';
import { NO_DOCKER, runStack } from '../support/stack.ts';
import { waitFor } from '../support/wait-for.ts';

const SCHEMA = `type Bid { id: Int }
type Subscription {
  bid_placed(lot_id: Int!): Bid @kafka(topic: "bids", match: [{ arg: "lot_id", path: "bid.lot_id" }])
  any_bid: Bid @kafka(topic: "bids")
  lot_closed(name: ID): Bid @kafka(topic: "lots", match: [{ arg: "name", path: "name" }])
}`;

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-stack-test-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('npm run stack', () => {
  it('starts Kafka with the topics of the graph and Redis, says how to use them, and leaves nothing behind', async (t) => {
    const graph = await temporaryFolder(t);
    await writeFile(join(graph, 'schema.graphql'), SCHEMA);
    const [kafkaPort, redisPort] = (await freePorts(2)) as [number, number];
    const temporary = await temporaryFolder(t);
    const stack = runStack(t, {
      ...NO_DOCKER,
      GRAPH: graph,
      KAFKA_PORT: `${kafkaPort}`,
      REDIS_PORT: `${redisPort}`,
      TMPDIR: temporary,
    });

    await waitFor('the closing line', () => stack.output.includes('Ctrl-C') || stack.child.exitCode !== null, 180_000);

    assert.match(
      stack.output,
      new RegExp(
        `KAFKA_BROKERS=127.0.0.1:${kafkaPort} REDIS_URL=redis://127.0.0.1:${redisPort} GRAPH=${graph} npm start`,
      ),
    );
    assert.match(stack.output, /printf '%s\\n' '1:\{"bid":\{"lot_id":1\}\}' \| kcat -P -K: -b \S+ -t bids\n/);
    const admin = new kafkajs.Kafka({
      brokers: [`127.0.0.1:${kafkaPort}`],
      logLevel: kafkajs.logLevel.NOTHING,
    }).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata();
    await admin.disconnect();
    assert.deepEqual(
      topics
        .map(({ name, partitions }) => [name, partitions.length] as const)
        .sort(([one], [other]) => one.localeCompare(other)),
      [
        ['bids', 4],
        ['crier-dead-letter', 1],
        ['lots', 4],
      ],
    );

    stack.child.kill('SIGTERM');
    assert.equal(await stack.exited, 0);
    assert.equal(await isPortTaken(kafkaPort), false);
    assert.equal(await isPortTaken(redisPort), false);
    const left = (await readdir(temporary)).filter((name) => name.startsWith('crier-'));
    assert.deepEqual(left, []);
  });

  it('refuses a port that is in use, naming the port and the variable', async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.after(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const stack = runStack(t, { ...NO_DOCKER, KAFKA_PORT: `${port}` });
    assert.equal(await stack.exited, 1);
    assert.match(stack.errors, new RegExp(`KAFKA_PORT: port ${port} on 127.0.0.1 is in use`));
  });

  it('refuses a malformed port', async (t) => {
    const stack = runStack(t, { ...NO_DOCKER, REDIS_PORT: 'redis' });
    assert.equal(await stack.exited, 1);
    assert.match(stack.errors, /REDIS_PORT: expected a port, 1 to 65535, got "redis"/);
  });

  it('refuses a malformed number of brokers, and any other flag', async (t) => {
    const none = runStack(t, NO_DOCKER, ['--brokers', '0']);
    const unknown = runStack(t, NO_DOCKER, ['--broker', '3']);
    assert.deepEqual(await Promise.all([none.exited, unknown.exited]), [1, 1]);
    assert.match(none.errors, /--brokers: expected a number, 1 to 9, got "0"/);
    assert.match(unknown.errors, /Unknown option '--broker'/);
  });

  it('refuses an unknown kind of Redis, and names the kinds', async (t) => {
    const unknown = runStack(t, NO_DOCKER, ['--redis', 'proxy']);
    assert.equal(await unknown.exited, 1);
    assert.match(unknown.errors, /--redis: expected one, sentinel, cluster, got "proxy"/);
  });

  it('refuses a graph folder without a schema', async (t) => {
    const stack = runStack(t, { ...NO_DOCKER, GRAPH: '/nonexistent' });
    assert.equal(await stack.exited, 1);
    assert.match(stack.errors, /GRAPH: expected a folder with a schema.graphql, got "\/nonexistent"/);
  });

  it('prints its usage with --help', async (t) => {
    const stack = runStack(t, NO_DOCKER, ['--help']);
    assert.equal(await stack.exited, 0);
    assert.match(stack.output, /KAFKA_PORT[^]*REDIS_PORT[^]*SCHEMA_REGISTRY_PORT[^]*GRAPH/);
  });

  it('takes docker compose down again when it cannot bring Kafka and Redis up', async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, 'bin'));
    const docker = join(folder, 'bin', 'docker');
    await writeFile(docker, `#!/bin/sh\necho "$*" >> '${folder}/calls'\ncase "$*" in *" up "*) exit 3;; esac\n`);
    await chmod(docker, 0o755);
    const [kafkaPort, redisPort] = (await freePorts(2)) as [number, number];
    const stack = runStack(t, {
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      KAFKA_PORT: `${kafkaPort}`,
      REDIS_PORT: `${redisPort}`,
    });
    assert.equal(await stack.exited, 1);
    assert.match(
      stack.errors,
      /failed \(3\): docker compose --project-name crier-stack up --detach --wait kafka redis/,
    );
    assert.deepEqual((await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n'), [
      'info',
      'compose version',
      'compose --project-name crier-stack up --detach --wait kafka redis',
      'compose --project-name crier-stack down --volumes',
    ]);
  });
});
