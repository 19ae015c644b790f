import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkTunables } from '../../../src/ops/check/tunables-check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { NOBODY } from '../../support/nobody.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

type Prepare = (path: string) => Promise<unknown>;

const content = (value: unknown): Prepare => {
  return (path) => writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));
};

describe('crier check with TUNABLES_FILE', () => {
  const cases: readonly (readonly [what: string, prepare: Prepare, expected: readonly string[]])[] = [
    [
      'a good file',
      content({ LOG_LEVEL: 'debug', MAX_QUEUE_BYTES: 2048 }),
      ['ok: TUNABLES_FILE: <path> sets 2 settings: LOG_LEVEL, MAX_QUEUE_BYTES'],
    ],
    ['an empty object', content({}), ['ok: TUNABLES_FILE: <path> sets 0 settings']],
    [
      'a missing file',
      () => Promise.resolve(),
      ['failed: TUNABLES_FILE: there is no file <path>; correct the path, or mount the file'],
    ],
    [
      'a directory',
      (path) => mkdir(path),
      [
        'failed: TUNABLES_FILE: <path>: not a file; expected a readable file with a JSON object such as { "LOG_LEVEL": "debug" }',
      ],
    ],
    [
      'a file that is not JSON',
      content('{\n"LOG_LEVEL": "debug",\n}'),
      [
        'failed: TUNABLES_FILE: <path>: not JSON, in line 3; expected a readable file with a JSON object such as { "LOG_LEVEL": "debug" }',
      ],
    ],
    [
      'two bad values',
      content({ MAX_QUEUE_BYTES: 12, LOG_LEVEL: 'loud' }),
      [
        'failed: TUNABLES_FILE: <path> is rejected: LOG_LEVEL: expected trace, debug, info, warn, error, fatal or silent, got "loud"',
        'failed: TUNABLES_FILE: <path> is rejected: MAX_QUEUE_BYTES: expected a whole number of bytes, at least 1024, got "12"',
      ],
    ],
    [
      'a value that contradicts the environment',
      content({ MAX_QUEUE_BYTES: 300_000_000 }),
      [
        'failed: TUNABLES_FILE: <path> is rejected: MAX_QUEUE_BYTES: expected no more than MAX_POD_QUEUE_BYTES (268435456), got 300000000',
      ],
    ],
    [
      'keys that change nothing',
      content({ MAX_QUEU_BYTES: 2048, PORT: 1, x: 1, OTEL_TRACES_SAMPLER_ARG: 1 }),
      [
        'ok: TUNABLES_FILE: <path> sets 0 settings',
        'failed: TUNABLES_FILE: a key changes nothing: MAX_QUEU_BYTES; did you mean "MAX_QUEUE_BYTES"?',
        'warning: TUNABLES_FILE: a key changes nothing: PORT: changes only at a restart',
        'warning: TUNABLES_FILE: a key changes nothing: x',
        'warning: TUNABLES_FILE: a key changes nothing: OTEL_TRACES_SAMPLER_ARG: no effect, because this pod has no exporter of spans (OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT)',
      ],
    ],
  ];
  for (const [what, prepare, expected] of cases) {
    it(`reports ${what}`, async (t) => {
      const path = join(await temporaryFolder(t), 'tunables.json');
      await prepare(path);
      const findings = await checkTunables(readConfig({ TUNABLES_FILE: path }));
      assert.deepEqual(
        findings.map(({ status, text }) => `${status}: ${text.replace(path, '<path>')}`),
        expected,
      );
    });
  }

  it('reports a file that this user may not read', async (t) => {
    const folder = await temporaryFolder(t);
    await chmod(folder, 0o755);
    const path = join(folder, 'tunables.json');
    await writeFile(path, '{}', { mode: 0o000 });
    const isRoot = process.geteuid!() === 0;
    if (isRoot) process.seteuid!(NOBODY);
    try {
      const [finding] = await checkTunables(readConfig({ TUNABLES_FILE: path }));
      assert.ok(finding!.text.startsWith(`TUNABLES_FILE: ${path}: this user may not read it; expected`), finding!.text);
    } finally {
      if (isRoot) process.seteuid!(0);
    }
  });

  it('reports nothing without TUNABLES_FILE', async () => {
    assert.deepEqual(await checkTunables(readConfig({})), []);
  });
});
