import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/** Logs 100 MB in small lines, then prints by how many MB the process has grown. */
const FLOOD = `
  import { createLog } from ${JSON.stringify(join(process.cwd(), 'dist', 'src', 'log.js'))};
  const log = createLog('info');
  const before = process.memoryUsage().rss;
  let number = 0;
  for (let i = 0; i < 100; i++) {
    for (let line = 0; line < 1000; line++) log.info({ number: number++ }, 'x'.repeat(1000));
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.stdout.write(String(Math.round((process.memoryUsage().rss - before) / 1e6)));
`;

const FLOOD_LINES = 100_000;

/** Logs an error that throws when it is read, then prints a line to prove that the process survived. */
const HOSTILE = `
  import { createLog } from ${JSON.stringify(join(process.cwd(), 'dist', 'src', 'log.js'))};
  const fail = () => { throw new Error('read'); };
  const err = new Proxy(new Error(), { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });
  createLog('info').error({ err, id: 7 }, 'logged');
  process.stdout.write('alive');
`;

describe('createLog', () => {
  it('logs an error that throws when it is read', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', HOSTILE], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    assert.deepEqual(await once(child, 'close'), [0, null], log);
    const { id, msg } = JSON.parse(log) as Record<string, unknown>;
    assert.deepEqual([id, msg], [7, 'logged']);
  });

  it('neither blocks nor grows without bound while standard error is not read, and reports the dropped lines', async (t) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', FLOOD], { stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    child.stderr.pause();
    const [grown] = (await once(child.stdout, 'data')) as [Buffer];
    assert.ok(Number(grown.toString()) < 80, `grown by ${grown.toString()} MB`);

    let text = '';
    for await (const chunk of child.stderr) text += String(chunk);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; number?: number; lines?: number });
    const numbers = lines.flatMap(({ number }) => number ?? []);
    assert.ok(numbers.every((number, i) => i === 0 || number > numbers[i - 1]!));
    const notices = lines.filter(({ msg }) => msg.startsWith('log lines were dropped'));
    assert.ok(notices.length > 0);
    const dropped = notices.reduce((sum, notice) => sum + notice.lines!, 0);
    assert.equal(numbers.length + dropped, FLOOD_LINES);
  });
});
