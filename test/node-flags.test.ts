import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { waitFor } from './support/wait-for.ts';

const MEGABYTE = 2 ** 20;
/** Tolerance in megabytes, for rounding. */
const ROUNDING = 32;
const PERCENTAGE = '--max-old-space-size-percentage';

/** Node 20 does not know the image's flag: `npm run test:node -- 24` shows what it does. */
const itInImage = process.allowedNodeEnvironmentFlags.has(PERCENTAGE) ? it : () => undefined;

/** The words between `node` and the script. */
function flagsOf(words: readonly string[]): string[] {
  assert.match(words.at(0)!, /node$/);
  assert.equal(words.at(-1), 'dist/src/main.js');
  return words.slice(1, -1);
}

async function imageCommand(): Promise<string[]> {
  const line = /^CMD (\[.*\])$/m.exec(await readFile('Dockerfile', 'utf8'));
  return JSON.parse(line![1]!) as string[];
}

async function startCommand(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.replace(/^exec /, '').split(' ');
}

describe("Node's flags", () => {
  it('are those of npm start in the image, and its heap follows the memory of the container', async () => {
    const [start, image] = [flagsOf(await startCommand()), flagsOf(await imageCommand())];
    assert.deepEqual(
      image.filter((flag) => !flag.startsWith(PERCENTAGE)),
      start,
    );
    assert.equal(image.length, start.length + 1);
    assert.ok(start.some((flag) => /^--max-semi-space-size=\d+$/.test(flag)));
  });

  void itInImage('give the old space of the image its share of what the process may have', async () => {
    const flags = flagsOf(await imageCommand());
    const valueOf = (name: string) => Number(flags.find((flag) => flag.startsWith(`${name}=`))!.split('=')[1]);
    const script = 'process.stdout.write(String(v8.getHeapStatistics().heap_size_limit))';
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', script]);
    // Without a memory limit, constrainedMemory() exceeds the memory of the machine.
    const memory = Math.min(process.constrainedMemory() || Infinity, totalmem()) / MEGABYTE;
    const expected = (memory * valueOf(PERCENTAGE)) / 100 + 3 * valueOf('--max-semi-space-size');
    assert.ok(Math.abs(Number(stdout) / MEGABYTE - expected) < ROUNDING, `${stdout} bytes, not ${expected} MB`);
  });

  void itInImage('leave signals to the server: SIGTERM ends it with 0', async (t) => {
    const [, ...words] = await imageCommand();
    const pod = spawn(process.execPath, words, {
      env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => pod.kill('SIGKILL'));
    let output = '';
    pod.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await waitFor('the line `ready`', () => output.includes('/graphql'), 60_000);
    const ended = once(pod, 'exit');
    pod.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  });
});
