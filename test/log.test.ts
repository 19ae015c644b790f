import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/** Logs 100 MB in small lines, then says on standard output by how many MB the process has grown. */
const FLOOD = `
  import { createLog } from ${JSON.stringify(join(process.cwd(), 'dist', 'src', 'log.js'))};
  const log = createLog('info');
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 100; i++) {
    for (let line = 0; line < 1000; line++) log.info('x'.repeat(1000));
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.stdout.write(String(Math.round((process.memoryUsage().rss - before) / 1e6)));
`;

describe('createLog', () => {
  it('neither blocks nor grows without bound while nobody reads standard error', async (t) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', FLOOD], { stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    child.stderr.pause();
    const [grown] = (await once(child.stdout, 'data')) as [Buffer];
    assert.ok(Number(grown.toString()) < 80, `grown by ${grown.toString()} MB`);
  });
});
