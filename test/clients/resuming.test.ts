import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, it } from 'node:test';
import { createServer } from '../../src/library/create-server.ts';
import type { Server } from '../../src/library/create-server.ts';
import { defineGraph } from '../../src/library/define-graph.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { metricOf } from '../support/metric.ts';
import { randomName, redisServer } from '../support/services.ts';
import type { Scope } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { goProgram, gqlPackages, javaProgram } from './programs.ts';

interface Result {
  readonly data?: { readonly order: { readonly n: number } };
  readonly extensions?: { readonly resumed?: boolean; readonly gap?: true };
  readonly refused?: string;
}

/** A program that takes a URL, a document and its variables as further arguments. */
interface Program {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** The clients of `clients/` in other languages. */
const CLIENTS: Readonly<Record<string, () => Promise<Program>>> = {
  Python: async () => ({
    words: ['python3', resolve('test/clients/fixtures/resume-python/client.py'), resolve('clients/python')],
    environment: { PYTHONPATH: await gqlPackages(), PYTHONDONTWRITEBYTECODE: '1' },
  }),
  Go: async () => ({ words: [await goProgram('resume-go')], environment: {} }),
  Java: async () => ({ words: await javaProgram(), environment: {} }),
};

const PATIENCE_MS = 60_000;

describe('a resuming client in another language', { timeout: 600_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  for (const [language, install] of Object.entries(CLIENTS)) {
    describe(language, () => {
      let program: Program;
      before(async () => (program = await install()));

      /** The lines that it prints. */
      const run = (scope: Scope, url: string, query: string) => {
        const results: Result[] = [];
        const { words, environment } = program;
        const [command, ...rest] = words;
        const child = spawn(command!, [...rest, url, query, '{}'], {
          env: { PATH: process.env['PATH'], ...environment },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        createInterface(child.stdout).on('line', (line) => results.push(JSON.parse(line) as Result));
        scope.after(() => void child.kill('SIGKILL'));
        return results;
      };

      it('has each event once, in order, though its pod is replaced four times, and knows that none is missing', async (t) => {
        const redis = await redisServer(t);
        const topic = await outside.createTopic(undefined, 1);
        const [prefix, group] = [randomName(), randomName('group')];
        const start = (port: number): Promise<Server> =>
          createServer({
            host: '127.0.0.1',
            port,
            logLevel: 'silent',
            drainDelayMs: 0,
            drainSpreadMs: 0,
            kafkaBrokers: outside.brokers,
            kafkaGroupId: group,
            kafkaDeadLetterTopic: randomName('dead'),
            redisUrl: redis.url,
            channelPrefix: prefix,
            graph: defineGraph({
              schema: `type Order { n: Int } type Subscription { order: Order @kafka(topic: "${topic}", history: {}) }`,
            }),
          });
        let server = await start(0);
        t.after(() => server.close());
        const { port } = new URL(server.url!);
        const results = run(t, server.webSocketUrl!, 'subscription { order { n } }');
        const isSubscribed = async () => (await metricOf(server.adminUrl, 'crier_channels')) === 1;
        await waitFor('the client', isSubscribed, PATIENCE_MS);
        let written = 0;
        const write = (count: number) =>
          outside.send(
            topic,
            Array.from({ length: count }, () => ({ partition: 0, value: Buffer.from(`{"n":${++written}}`) })),
          );
        await write(5);
        await waitFor('the first events', () => results.length >= 5, PATIENCE_MS);
        for (let round = 0; round < 4; round++) {
          await server.close();
          await write(20);
          server = await start(Number(port));
          await write(20);
          await waitFor('all events', () => results.length >= written, PATIENCE_MS);
        }
        assert.deepEqual(
          results.map(({ data }) => data?.order.n),
          Array.from({ length: written }, (_, i) => i + 1),
        );
        const resumed = results.flatMap(({ extensions }) => extensions?.resumed ?? []);
        assert.deepEqual(resumed, [true, true, true, true]);
        assert.ok(results.every(({ extensions }) => extensions?.gap === undefined));
      });

      it('tells its program why an operation is refused, and ends', async (t) => {
        const graph = defineGraph({
          schema: 'type Order { n: Int } type Subscription { order: Order @kafka(topic: "a") }',
        });
        const server = await createServer({ host: '127.0.0.1', port: 0, logLevel: 'silent', graph });
        t.after(() => server.close());
        const results = run(t, server.webSocketUrl!, 'subscription { order { colour } }');
        await waitFor('the refusal', () => results.length > 0, PATIENCE_MS);
        assert.deepEqual(results, [{ refused: 'Cannot query field "colour" on type "Order".' }]);
      });
    });
  }
});
