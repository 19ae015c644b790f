import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { rowsOf } from '../../../loadtest/publish.ts';
import { groupMembers } from '../../support/process-group.ts';
import { randomName } from '../../support/services.ts';

describe('npm run bench:publish', () => {
  it('publishes on each topology without a loss, and leaves no process', async (t) => {
    const name = randomName('publish');
    const files = `loadtest/results/${name}`;
    t.after(async () => {
      for (const ending of ['.json', '.md']) await rm(`${files}${ending}`, { force: true });
    });
    const script = new URL('../../../loadtest/bench.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, 'publish', '--rounds', '1', '--seconds', '1', '--out', name], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    await once(child, 'exit');
    // A busy machine may make three shards too slow.
    assert.match(output, /Every record arrived\.$/m);
    const { rows } = JSON.parse(await readFile(`${files}.json`, 'utf8')) as { rows: ReturnType<typeof rowsOf> };
    assert.deepEqual(
      rows.map(({ topology, recordsPerSecond }) => [topology, recordsPerSecond.min > 0]),
      [
        ['one server', true],
        ['a cluster of 1 shard', true],
        ['a cluster of 3 shards', true],
      ],
    );
    assert.deepEqual(await groupMembers(child.pid!, 5000), []);
  });
});
