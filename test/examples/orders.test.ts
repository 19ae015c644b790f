import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import kafkajs from 'kafkajs';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { freePorts } from '../../stack/port.ts';
import { NO_DOCKER, runStack } from '../support/stack.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';

const README = readFileSync('examples/orders/README.md', 'utf8');
const COMMANDS = blocks('sh').flatMap((block) => block.trim().replaceAll('\\\n', '').split('\n'));
const STACK = COMMANDS.find((command) => command.endsWith('npm run stack'))!;
const WRITES = COMMANDS.filter((command) => command.startsWith('node examples/orders/produce.js'));
const QUERY = COMMANDS.find((command) => command.startsWith('curl '))!;
const [ONE, ALL] = blocks('graphql');

function blocks(language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms');
  return Array.from(README.matchAll(fence), ([, block]) => block!);
}

/** The settings of a line such as `A=1 B=2 npm start`. */
function settingsOf(line: string): Record<string, string> {
  return Object.fromEntries(Array.from(line.matchAll(/(\w+)=(\S+)/g), ([, name, value]) => [name!, value!]));
}

describe('examples/orders', () => {
  it('runs on the native stack, as its README says', async (t) => {
    const [kafkaPort, redisPort, registryPort] = await freePorts(3);
    const stack = runStack(t, {
      ...NO_DOCKER,
      ...settingsOf(STACK),
      KAFKA_PORT: `${kafkaPort}`,
      REDIS_PORT: `${redisPort}`,
      SCHEMA_REGISTRY_PORT: `${registryPort}`,
    });
    await waitFor('the closing line', () => stack.output.includes('Ctrl-C') || stack.child.exitCode !== null, 180_000);
    assert.equal(stack.child.exitCode, null, stack.errors);
    assert.doesNotMatch(stack.output, /kcat/, 'a record of Avro cannot be written as text');
    const settings = settingsOf(/^.* npm start$/m.exec(stack.output)![0]);
    const environment = { ...process.env, ...settings };
    const run = (command: string) => execFileSync('sh', ['-c', command], { env: environment, encoding: 'utf8' });
    const [placed, paid, deleted] = WRITES;

    run(placed!);
    const pod = await spawnPod(t, settings).started();
    await pod.reports({ incomplete_states: [] });
    const one = watch(t, pod.url, ONE!);
    const all = watch(t, pod.url, ALL!);
    const first = (await one.event())['orderUpdated'] as { updatedAt: string };
    assert.deepEqual(first, { status: 'PLACED', total: '12.50', updatedAt: first.updatedAt });
    assert.equal(new Date(first.updatedAt).toISOString(), first.updatedAt);
    const read = () => JSON.parse(run(QUERY.replace('http://localhost:4000/graphql', pod.endpoint))) as object;
    assert.deepEqual(read(), { data: { order: { status: 'PLACED', total: '12.50' } } });
    await pod.counts('crier_channels', 2);
    run(paid!);
    assert.equal(((await one.event(2))['orderUpdated'] as { status: string }).status, 'PAID');
    run(placed!.replace('7 PLACED 12.50', '8 PLACED 100.00'));
    assert.deepEqual(await all.event(), { ordersUpdated: { orderId: '8', total: '100.00' } });
    run(deleted!);
    await waitFor('the end', () => one.failures.length > 0);
    assert.deepEqual([one.failures, all.failures], [['complete'], []]);
    assert.deepEqual(read(), { data: { order: null } });

    run(paid!);
    await waitFor('the state', () => (read() as { data: { order: unknown } }).data.order !== null);
    const again = watch(t, pod.url, ONE!);
    assert.equal(((await again.event())['orderUpdated'] as { status: string }).status, 'PAID');

    const kafka = new kafkajs.Kafka({ brokers: [settings['KAFKA_BROKERS']!], logLevel: kafkajs.logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    t.after(() => admin.disconnect());
    const topic = { type: kafkajs.ConfigResourceTypes.TOPIC, name: 'orders', configNames: ['cleanup.policy'] };
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [topic] });
    assert.equal(resources[0]!.configEntries[0]!.configValue, 'compact');
    assert.equal(await pod.stop(), 0);
    stack.child.kill('SIGTERM');
    assert.equal(await stack.exited, 0);
  });

  it('refuses a total that is no decimal, and says how the producer is used', () => {
    assert.throws(
      () => execFileSync('node', ['examples/orders/produce.js', '7', 'PAID', '12.5'], { stdio: 'pipe' }),
      /produce\.js <order id> delete/,
    );
  });

  it('names the address of a registry that is away', async () => {
    const [port] = await freePorts(1);
    const env = { ...process.env, SCHEMA_REGISTRY_URL: `http://127.0.0.1:${port}` };
    assert.throws(
      () => execFileSync('node', ['examples/orders/produce.js', '7', 'PAID', '12.50'], { stdio: 'pipe', env }),
      new RegExp(`ECONNREFUSED 127.0.0.1:${port}; does "npm run stack" run\\?`),
    );
  });
});
