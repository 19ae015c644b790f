import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { freePorts } from '../../../stack/port.ts';
import { startPod } from '../../end-to-end/pod-server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { createCertificate } from '../../support/certificate.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { Crier, crier } from '../crier.ts';
import { refusalOf } from '../refusal.ts';
import { listen, startGraphqlWs, startLegacy } from './other-server.ts';

const PUSHED = ['--subscription', 'subscription { pushed }', '--trigger', 'mutation ($n: Int!) { push(n: $n) }'];

interface Result {
  readonly conformance: {
    readonly passed: number;
    readonly tried: number;
    readonly failed: number;
    readonly rows: readonly { readonly id: string; readonly verdict: string; readonly reason?: string }[];
  };
  readonly fanOut: {
    readonly sockets: number;
    readonly seconds: number;
    readonly events: number;
    readonly deliveries: number;
    readonly missing: number;
    readonly incompleteTriggers: number;
    readonly failures: Readonly<Record<string, number>>;
    readonly spreadMs: { readonly p50Ms: number; readonly p99Ms: number };
    readonly latencyMs: { readonly p50Ms: number; readonly maxMs: number };
    readonly notes: readonly string[];
  };
}

async function bench(t: TestContext, ...args: readonly string[]) {
  const { code, output, errors } = await crier(t, ['bench', ...args]);
  return { code, output, errors, result: () => JSON.parse(output) as Result };
}

/** Ids of rows with this verdict. */
function rowsOf({ conformance: { rows } }: Result, verdict: string): readonly string[] {
  return rows.filter((row) => row.verdict === verdict).map(({ id }) => id);
}

describe('crier bench', { timeout: 240_000 }, () => {
  it('finds that crier keeps every row, and counts each delivery of events that a mutation causes', async (t) => {
    const schema = `
      type Mutation { push(n: Int!): Written @kafkaPublish(topic: "pushed") }
      type Written { offset: String }
      type Subscription { pushed: Pushed @kafka(topic: "pushed") }
      type Pushed { n: Int }`;
    const pod = await startPod(t, {
      GRAPH: await graphFolder(t, { 'schema.graphql': schema }),
      INIT_TIMEOUT_MS: '1500',
    });
    const { code, errors, result } = await bench(
      t,
      pod.endpoint,
      ...['--subscription', 'subscription { pushed { n } }'],
      ...['--trigger', 'mutation ($n: Int!) { push(n: $n) { offset } }'],
      ...['--sockets', '30', '--duration', '1', '--json'],
    );
    assert.equal(code, 0, errors);
    const found = result();
    assert.deepEqual(rowsOf(found, 'skipped'), ['C-13']);
    assert.deepEqual([...rowsOf(found, 'failed'), ...rowsOf(found, 'differs')], []);
    assert.equal(found.conformance.passed, found.conformance.tried);
    const { fanOut } = found;
    assert.ok(fanOut.events > 0);
    assert.deepEqual(
      [fanOut.sockets, fanOut.deliveries, fanOut.missing, fanOut.incompleteTriggers, fanOut.failures],
      [30, fanOut.events * 30, 0, 0, {}],
    );
    assert.ok(fanOut.spreadMs.p99Ms >= fanOut.spreadMs.p50Ms && fanOut.latencyMs.maxMs >= fanOut.latencyMs.p50Ms);
    assert.ok(fanOut.latencyMs.maxMs >= fanOut.spreadMs.p50Ms);
  });

  it("exits with 1 for graphql-ws's own server, which ends the operation that reuses an id, and says so in a table", async (t) => {
    const address = await startGraphqlWs(t);
    const url = `ws://${address}/graphql`;
    const { code, output, errors } = await bench(
      t,
      address.replace(/^/, 'http://'),
      ...[...PUSHED, '--trigger-url', url, '--refused-params', '{"token":"wrong"}'],
      ...['--sockets', '20', '--duration', '1'],
    );
    assert.equal(code, 1, errors);
    assert.match(output, new RegExp(`^Conformance of ${url}\n\n✓ C-01  P    selects graphql-transport-ws`));
    assert.match(
      output,
      /\n✗ X-30 {2}P .*\n +the complete of the old operation came after .*\n +Source: protocol, "Subscribe"/,
    );
    assert.match(output, /\n~ C-31 {2}REC .*\n +expected a message, got close 4500 "Syntax/);
    assert.match(output, /\n✓ C-13 /);
    assert.match(output, /\nScore: 34 of 35 rows of the protocol \(97 %\)\n1 failed, 0 skipped, 3 differ/);
    assert.match(output, /\n {2}sockets +20, subscribed at /);
    assert.match(output, /\n {2}latency +[\d.]+ ms \(p50\)/);
  });

  it('skips the rows that cannot be tried, and names the option for each', async (t) => {
    const url = `ws://${await startGraphqlWs(t)}/graphql`;
    const skipped = ['C-13', 'C-18', 'C-26', 'C-29', 'C-46', 'X-18', 'X-30'];
    for (const [args, reason] of [
      [[], /^needs --subscription, one that goes on$/],
      [
        ['--subscription', 'subscription { ending }', '--only', 'conformance'],
        /ended by itself; needs one that goes on/,
      ],
    ] as const) {
      const { code, errors, result } = await bench(t, url, '--json', ...args);
      assert.equal(code, 0, errors);
      assert.deepEqual(rowsOf(result(), 'skipped'), skipped);
      const reasons = result().conformance.rows.flatMap((row) => (row.verdict === 'skipped' ? [row.reason!] : []));
      assert.match(reasons[0]!, /^needs --refused-params/);
      for (const one of reasons.slice(1)) assert.match(one, reason);
    }
    const silent = ['--subscription', 'subscription { pushed }', '--only', 'conformance', '--timeout', '4', '--json'];
    const { result } = await bench(t, url, ...silent);
    assert.deepEqual(rowsOf(result(), 'skipped'), ['C-13', 'C-46', 'X-30']);
    assert.match(result().conformance.rows.at(-1)!.id, /X-46/);
    assert.match(
      result().conformance.rows.find(({ id }) => id === 'C-46')!.reason!,
      /^expected an event of "a", got none in 4 s; --trigger names a mutation/,
    );
  });

  it('does not fail a server for a complete that it sends back, and only one row for a missing init timeout', async (t) => {
    const url = `ws://${await startGraphqlWs(t, { initTimeoutMs: 0, sendsCompleteBack: true })}/graphql`;
    const { result } = await bench(
      t,
      url,
      ...PUSHED,
      '--trigger-url',
      url,
      '--only',
      'conformance',
      '--timeout',
      '4',
      '--json',
    );
    assert.deepEqual(rowsOf(result(), 'failed'), ['C-09', 'X-30']);
    assert.deepEqual(rowsOf(result(), 'differs'), ['C-31', 'C-40', 'X-18', 'C-55']);
  });

  it('prints what it has found and exits with 130 when it is interrupted', async (t) => {
    const address = await startGraphqlWs(t, { initTimeoutMs: 600_000 });
    const running = new Crier(t, ['bench', `ws://${address}/graphql`, '--timeout', '600']);
    await running.until('only C-09 is left', () => /under way: C-09\n/.test(running.errors));
    running.process.kill('SIGINT');
    assert.equal(await running.ended, 130);
    assert.match(running.output, /\n✓ C-08 .*\n- C-09 .*\n +interrupted\n✓ C-10 [^]*\nScore: 29 of 29 rows/);
    assert.match(running.errors, /\ninterrupted\n$/);
  });

  it('measures until the last subscription has ended, and still says that each socket receives content of its own', async (t) => {
    const url = `ws://${await startGraphqlWs(t)}/graphql`;
    const series = ['--subscription', 'subscription { endingSeries }', '--only', 'fan-out'];
    const { code, errors, result } = await bench(t, url, ...series, '--sockets', '5', '--duration', '60', '--json');
    assert.equal(code, 0, errors);
    const { fanOut } = result();
    assert.deepEqual(fanOut.failures, { 'the server completed the subscription': 5 });
    assert.ok(fanOut.seconds < 30, `${fanOut.seconds} s`);
    assert.equal(fanOut.events, Math.round(fanOut.deliveries / 5));
    assert.deepEqual([fanOut.spreadMs, fanOut.missing], [undefined, undefined]);
    assert.match(fanOut.notes.join('\n'), /^Each socket receives content of its own/);
  });

  it('says why a server cannot be tried, and the fix', async (t) => {
    const address = await startGraphqlWs(t);
    const url = `ws://${address}/graphql`;
    const legacy = await startLegacy(t, (offered) => offered.has('graphql-ws') && 'graphql-ws');
    const pliantLegacy = await startLegacy(t, ([first]) => first ?? false);
    const forbidding = createServer().on('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n');
    });
    const forbidden = `ws://${await listen(t, forbidding)}`;
    const [unused] = await freePorts(1);
    for (const [args, code, message] of [
      [[`ws://127.0.0.1:${unused}`], 1, /nothing listens on 127\.0\.0\.1:\d+; is the server running\?/],
      [[`wss://${address}`], 1, /the port does not speak TLS; try ws:\/\//],
      [[`ws://${address}/other`], 1, /refused the WebSocket: status 400; is this the path of its WebSocket/],
      [[pliantLegacy], 1, /speaks the legacy sub-protocol graphql-ws/],
      [[legacy], 1, /speaks the legacy sub-protocol graphql-ws of subscriptions-transport-ws.*npm package graphql-ws/],
      [[forbidden], 1, /status 401; does it need a token.*--header 'authorization/],
      [[url, '--connection-params', '{"token":"wrong"}'], 1, /close 4403 "Forbidden"; does it need a token\?/],
      [[url, '--subscription', 'subscription { none }'], 1, /refused the subscription: Cannot query field "none"/],
      [
        [url, ...PUSHED.with(3, 'mutation { none }'), '--trigger-url', url],
        1,
        /--trigger failed at .*Cannot query field "none"/,
      ],
      [
        [url, ...PUSHED, '--trigger-url', `ws://127.0.0.1:${unused}`],
        1,
        /--trigger failed at ws:.* ECONNREFUSED .*; --trigger-url sends it elsewhere/,
      ],
      [
        [url, '--subscription', 'subscription { ending }', '--only', 'fan-out'],
        1,
        /the server completed the subscription/,
      ],
      [
        [url, '--subscription', 'subscription { endingLater }', '--only', 'fan-out', '--duration', '2'],
        1,
        /no subscription is left: the server completed the subscription/,
      ],
      [[], 2, /expected the URL of a server/],
    ] as const) {
      const ended = await bench(t, ...args);
      assert.equal(ended.code, code, ended.errors);
      assert.match(ended.errors, message);
      assert.doesNotMatch(ended.errors, /^\s+at /m);
    }
    for (const [args, message] of [
      [['--sockets', '5'], /--sockets: of no use without --subscription/],
      [['--subscription', 'subscription { pushed'], /^--subscription:1:22: Syntax Error/],
      [['--subscription', '{ hello }'], /--subscription: expected one subscription, got a query/],
      [['--only', 'speed'], /--only: expected conformance or fan-out, got "speed"/],
    ] as const) {
      const refusal = await refusalOf(['bench', url, ...args]);
      assert.equal(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
    }
  });

  it('names the setting for a certificate of an unknown authority, and trusts it with that', async (t) => {
    const folder = await temporaryFolder(t);
    const { keystore, certificate } = await createCertificate(folder, 'server', 'secret');
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, certificate);
    const server = createTlsServer({ pfx: await readFile(keystore), passphrase: 'secret' });
    const url = `wss://${await startGraphqlWs(t, { server })}/graphql`;
    assert.match((await bench(t, url)).errors, /authority that is not known here \(DEPTH_ZERO.*NODE_EXTRA_CA_CERTS=/);
    // Not its exit code: graphql-ws may close a client over TLS that uses an id at once again, because it frees the id late.
    const trusted = await crier(t, ['bench', url], { settings: { NODE_EXTRA_CA_CERTS: authority } });
    assert.match(trusted.output, /^✓ C-01 /m, trusted.errors);
    assert.match((await bench(t, url.replace('wss', 'ws'))).errors, /the port does not speak HTTP.*; try wss:/);
  });
});
