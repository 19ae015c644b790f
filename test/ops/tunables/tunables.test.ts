import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../../../src/config/config.ts';
import { idleSampling } from '../../../src/ops/tracing/sampling.ts';
import { tunablesRoute } from '../../../src/ops/tunables/tunables-route.ts';
import { Tunables } from '../../../src/ops/tunables/tunables.ts';
import { startAdmin } from '../../support/admin.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const POLL_INTERVAL_MS = 20;

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly setting?: string;
  readonly from?: unknown;
  readonly to?: unknown;
  readonly source?: string;
  readonly ignored?: readonly string[];
}

/** Tunables over a file of this test's own. */
async function startTunables(t: TestContext, content?: unknown, environment: Record<string, string> = {}) {
  const file = join(await temporaryFolder(t), 'tunables.json');
  const write = async (value: unknown) => {
    const draft = `${file}.draft`;
    await writeFile(draft, typeof value === 'string' ? value : JSON.stringify(value));
    await rename(draft, file);
  };
  if (content !== undefined) await write(content);
  return { file, write, ...(await open(t, { TUNABLES_FILE: file, ...environment })) };
}

async function open(t: TestContext, environment: Record<string, string>) {
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line) as Line) });
  const config = readConfig(environment);
  const tunables = new Tunables({ config, log, idle: idleSampling(config), pollIntervalMs: POLL_INTERVAL_MS });
  t.after(() => tunables.close());
  await tunables.start();
  const lastError = () => tunables.report().lastError?.message;
  const source = (name: string) => tunables.report().tunables.find((row) => row.name === name)?.source;
  const fileState = () => tunables.report().file?.state;
  return { tunables, log, lines, lastError, source, fileState };
}

describe('Tunables', () => {
  it('has the values of the file at the start, and follows each change', async (t) => {
    const { tunables, write, lines } = await startTunables(t, { MAX_OPERATIONS_PER_CONNECTION: 7 });
    const seen: number[] = [];
    tunables.bind('MAX_OPERATIONS_PER_CONNECTION', (operations) => seen.push(operations));
    await write({ MAX_OPERATIONS_PER_CONNECTION: 8, SHARING_AUDIT: 0.25 });
    await waitFor('the change', () => tunables.values.SHARING_AUDIT === 0.25);
    assert.deepEqual(seen, [7, 8]);
    assert.deepEqual(
      lines.map(({ msg, setting, from, to, source }) => ({ msg, setting, from, to, source })),
      [
        ['MAX_OPERATIONS_PER_CONNECTION', 100, 7],
        ['MAX_OPERATIONS_PER_CONNECTION', 7, 8],
        ['SHARING_AUDIT', 0.1, 0.25],
      ].map(([setting, from, to]) => ({ msg: 'a setting changed', setting, from, to, source: 'file' })),
    );
  });

  it("follows Kubernetes's replacement of a ConfigMap, which replaces a symbolic link above the file", async (t) => {
    const folder = await temporaryFolder(t);
    const mount = async (version: string, content: object) => {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'tunables.json'), JSON.stringify(content));
      await symlink(version, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    await mount('..2026_1', { MAX_QUEUE_BYTES: 2048 });
    await symlink(join('..data', 'tunables.json'), join(folder, 'tunables.json'));
    const { tunables } = await open(t, { TUNABLES_FILE: join(folder, 'tunables.json') });
    assert.equal(tunables.values.MAX_QUEUE_BYTES, 2048);
    await mount('..2026_2', { MAX_QUEUE_BYTES: 4096 });
    await rm(join(folder, '..2026_1'), { recursive: true });
    await waitFor('the change', () => tunables.values.MAX_QUEUE_BYTES === 4096);
  });

  it('follows a file of the same size and time that is written in place', async (t) => {
    const { tunables, file } = await startTunables(t, { MAX_QUEUE_BYTES: 2048 });
    await writeFile(file, JSON.stringify({ MAX_QUEUE_BYTES: 4096 }));
    await waitFor('the change', () => tunables.values.MAX_QUEUE_BYTES === 4096);
  });

  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ['is not JSON', '{\n"MAX_QUEUE_BYTES": 4096,\n}', /tunables\.json: not JSON, in line 3$/],
    ['is empty', '', /tunables\.json: not JSON$/],
    ['is a secret', 'hunter2', /tunables\.json: not JSON$/],
    ['is no object', [], /tunables\.json: expected a JSON object, got an array$/],
    ['is too large', `{"x":"${'x'.repeat(65_536)}"}`, /tunables\.json: 65544 bytes, and at most 65536 are read$/],
    [
      'has a value of the wrong type',
      { MAX_QUEUE_BYTES: '4096' },
      /^MAX_QUEUE_BYTES: expected a whole number of bytes, at least 1024, as a JSON number; got a string$/,
    ],
    ['has null', { LOG_LEVEL: null }, /^LOG_LEVEL: expected trace, .*, as a JSON string; got null$/],
    [
      'has a value out of range',
      { MAX_QUEUE_BYTES: 12 },
      /^MAX_QUEUE_BYTES: expected a whole number of bytes, at least 1024, got "12"$/,
    ],
    [
      'has a ratio above 1',
      { OTEL_TRACES_SAMPLER_ARG: 1.5 },
      /^OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got "1.5"$/,
    ],
    ['has a fraction', { MAX_QUEUE_BYTES: 4096.5 }, /^MAX_QUEUE_BYTES: .*, got "4096.5"$/],
    ['has an unknown level', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL: expected trace, .*, got "loud"$/],
    [
      'contradicts itself',
      { MAX_QUEUE_BYTES: 4096, MAX_POD_QUEUE_BYTES: 2048 },
      /^MAX_QUEUE_BYTES: expected no more than MAX_POD_QUEUE_BYTES \(2048\), got 4096$/,
    ],
  ];
  for (const [what, content, message] of bad) {
    it(`changes nothing, says why and counts once when the file ${what}`, async (t) => {
      const { tunables, write, lines, lastError, fileState } = await startTunables(
        t,
        { MAX_QUEUE_BYTES: 2048 },
        { OTEL_TRACES_EXPORTER: 'otlp' },
      );
      const mixed = typeof content === 'object' && !Array.isArray(content);
      await write(mixed ? { MAX_OPERATIONS_PER_CONNECTION: 7, ...content } : content);
      await waitFor('the rejection', () => tunables.rejected === 1);
      assert.match(lastError() ?? '', message);
      assert.match(fileState() ?? '', /^(bad|rejected)$/);
      assert.match(lines.at(-1)?.reason ?? '', message);
      assert.ok(!JSON.stringify(tunables.report()).includes('hunter2'));
      await write({ MAX_QUEUE_BYTES: 3072 });
      await waitFor('the change', () => tunables.values.MAX_QUEUE_BYTES === 3072);
      assert.equal(tunables.rejected, 1);
      assert.equal(fileState(), 'read');
      assert.equal(tunables.values.MAX_OPERATIONS_PER_CONNECTION, 100);
      assert.equal(lines.find(({ setting, to }) => setting === 'MAX_QUEUE_BYTES' && to === 3072)?.from, 2048);
    });
  }

  it('starts with the values of the environment when the file is bad, and follows its fix', async (t) => {
    const { tunables, write, lastError } = await startTunables(t, '{', { MAX_QUEUE_BYTES: '5000' });
    assert.deepEqual([tunables.values.MAX_QUEUE_BYTES, tunables.rejected], [5000, 1]);
    assert.match(lastError() ?? '', /not JSON/);
    await write({ MAX_QUEUE_BYTES: 6000 });
    await waitFor('the change', () => tunables.values.MAX_QUEUE_BYTES === 6000);
    assert.equal(tunables.rejected, 1);
  });

  it('keeps the values when the file disappears, says so, and starts without one', async (t) => {
    const { tunables, write, file, lines, fileState } = await startTunables(t);
    assert.equal(fileState(), 'missing');
    await write({ MAX_QUEUE_BYTES: 2048 });
    await waitFor('the change', () => tunables.values.MAX_QUEUE_BYTES === 2048);
    await rm(file);
    await waitFor('the loss', () => fileState() === 'missing');
    await waitFor('the line', () => lines.at(-1)?.reason === `there is no file ${file}`);
    assert.deepEqual([tunables.values.MAX_QUEUE_BYTES, tunables.rejected], [2048, 0]);
    await write({});
    await waitFor('the change', () => tunables.values.MAX_QUEUE_BYTES === 1_048_576);
  });

  it("returns to the environment's value when a key is removed", async (t) => {
    const { tunables, write, source } = await startTunables(
      t,
      { MAX_QUEUE_BYTES: 2048, MAX_POD_QUEUE_BYTES: 4096 },
      { MAX_QUEUE_BYTES: '5000' },
    );
    assert.deepEqual([source('MAX_QUEUE_BYTES'), source('MAX_POD_QUEUE_BYTES')], ['file', 'file']);
    await write({});
    await waitFor('the change', () => tunables.values.MAX_QUEUE_BYTES === 5000);
    assert.equal(tunables.values.MAX_POD_QUEUE_BYTES, 268_435_456);
    assert.deepEqual([source('MAX_QUEUE_BYTES'), source('MAX_POD_QUEUE_BYTES')], ['environment', 'default']);
  });

  it('names keys that change nothing, and the settings that may have been meant', async (t) => {
    const { tunables, lines } = await startTunables(t, { MAX_QUEU_BYTES: 4096, PORT: 1, x: 1, MAX_QUEUE_BYTES: 2048 });
    const ignored = ['MAX_QUEU_BYTES; did you mean "MAX_QUEUE_BYTES"?', 'PORT: changes only at a restart', 'x'];
    assert.deepEqual(lines.find((line) => line.ignored)?.ignored, ignored);
    assert.deepEqual(tunables.report().ignored, ignored);
    assert.equal(tunables.values.MAX_QUEUE_BYTES, 2048);
  });

  const withoutExporter =
    'no effect, because this pod has no exporter of spans (OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT)';
  const idle: readonly (readonly [Record<string, string>, string])[] = [
    [{}, withoutExporter],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, withoutExporter],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ROLE: 'gateway', REDIS_URL: 'redis://127.0.0.1:1' },
      'no effect with ROLE=gateway: workers decide which records are traced',
    ],
    [
      { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' },
      'no effect, because OTEL_SDK_DISABLED=true: nothing is traced',
    ],
    [
      { OTEL_TRACES_EXPORTER: 'otlp', OTEL_TRACES_SAMPLER: 'always_on' },
      'no effect with OTEL_TRACES_SAMPLER=always_on',
    ],
  ];
  for (const [environment, reason] of idle) {
    it(`leaves OTEL_TRACES_SAMPLER_ARG and says why where it has no effect: ${JSON.stringify(environment)}`, async (t) => {
      const content = { OTEL_TRACES_SAMPLER_ARG: 0.5, MAX_QUEUE_BYTES: 2048 };
      const { tunables, lines, source } = await startTunables(t, content, environment);
      const ignored = [`OTEL_TRACES_SAMPLER_ARG: ${reason}`];
      assert.deepEqual(lines.find((line) => line.ignored)?.ignored, ignored);
      const report = tunables.report();
      assert.deepEqual(report.ignored, ignored);
      assert.deepEqual(
        report.tunables.flatMap(({ name, idle }) => (idle === undefined ? [] : [[name, idle]])),
        [['OTEL_TRACES_SAMPLER_ARG', reason]],
      );
      assert.deepEqual(
        lines.flatMap(({ setting }) => setting ?? []),
        ['MAX_QUEUE_BYTES'],
      );
      assert.equal(source('OTEL_TRACES_SAMPLER_ARG'), 'default');
    });
  }

  it('logs a change of LOG_LEVEL whether the level before or after it hides the line', async (t) => {
    const { tunables, log, lines, write } = await startTunables(t, {});
    tunables.bind('LOG_LEVEL', (level) => (log.level = level));
    await write({ LOG_LEVEL: 'error' });
    await waitFor('the quiet level', () => log.level === 'error');
    await write({ LOG_LEVEL: 'debug' });
    await waitFor('the loud level', () => log.level === 'debug');
    assert.deepEqual(
      lines.map(({ from, to }) => [from, to]),
      [
        ['info', 'error'],
        ['error', 'debug'],
      ],
    );
  });

  it('keeps two files of one process apart, and stops reading when closed', async (t) => {
    const first = await startTunables(t, { MAX_QUEUE_BYTES: 2048 });
    const second = await startTunables(t, { MAX_QUEUE_BYTES: 4096 });
    assert.deepEqual([first.tunables.values.MAX_QUEUE_BYTES, second.tunables.values.MAX_QUEUE_BYTES], [2048, 4096]);
    await first.tunables.close();
    await first.tunables.close();
    await first.write({ MAX_QUEUE_BYTES: 2049 });
    await second.write({ MAX_QUEUE_BYTES: 4097 });
    await waitFor('the change', () => second.tunables.values.MAX_QUEUE_BYTES === 4097);
    assert.equal(first.tunables.values.MAX_QUEUE_BYTES, 2048);
  });
});

describe('/debug/tunables', () => {
  it('shows each setting with its value and source, the file and the last error', async (t) => {
    const { tunables, file, write } = await startTunables(t, { SHARING_AUDIT: 0.5 }, { MAX_QUEUE_BYTES: '5000' });
    await write('{');
    await waitFor('the rejection', () => tunables.rejected === 1);
    const { get } = await startAdmin(t, [['/debug/tunables', tunablesRoute(tunables)]]);
    const { status, text } = await get('/debug/tunables');
    const report = JSON.parse(text) as {
      tunables: { name: string; value: unknown; source: string }[];
      lastError: { at: string; message: string };
    };
    assert.equal(status, 200);
    const { tunables: rows, lastError, ...rest } = report;
    assert.deepEqual(rest, { file: { path: file, state: 'bad' }, rejected: 1, ignored: [] });
    assert.match(lastError.message, /not JSON/);
    assert.ok(Date.parse(lastError.at) <= Date.now());
    const shown = Object.fromEntries(rows.map(({ name, value, source }) => [name, [value, source]]));
    assert.deepEqual(shown['SHARING_AUDIT'], [0.5, 'file']);
    assert.deepEqual(shown['MAX_QUEUE_BYTES'], [5000, 'environment']);
    assert.deepEqual(shown['LOG_LEVEL'], ['info', 'default']);
  });
});
