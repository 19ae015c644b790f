import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { LogDestination } from '../../src/base/log-destination.ts';
import { createLog } from '../../src/base/log.ts';

/** Logs 100 MB in small lines, then prints by how many MB the process has grown. */
const FLOOD = `
  import { createLog } from ${JSON.stringify(join(process.cwd(), 'dist', 'src', 'base', 'log.js'))};
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
  import { createLog } from ${JSON.stringify(join(process.cwd(), 'dist', 'src', 'base', 'log.js'))};
  const fail = () => { throw new Error('read'); };
  const err = new Proxy(new Error(), { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });
  createLog('info').error({ err, id: 7 }, 'logged');
  process.stdout.write('alive');
`;

/** A log whose lines can be read as they were written. */
function capture(level: string, facts?: Readonly<Record<string, string>>) {
  const text: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text.push(chunk.toString());
      done();
    },
  });
  const destination = new LogDestination(stream);
  const read = async () => {
    await new Promise<void>((resolve) => destination.flush(resolve));
    return text.join('');
  };
  return { log: createLog(level, facts, destination), read };
}

describe('createLog', () => {
  it('writes each line with the name of its level, the time in ISO 8601, and the facts of the pod', async () => {
    const facts = { pod: 'crier-7', role: 'worker', version: '1.2.3' };
    const { log, read } = capture('trace', facts);
    const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
    for (const level of levels) log[level]({ topic: 'orders' }, 'a line');
    const lines = (await read())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const [i, { time, ...line }] of lines.entries()) {
      assert.deepEqual(line, { level: levels[i], ...facts, topic: 'orders', msg: 'a line' });
      assert.match(time as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.equal(lines.length, levels.length);
  });

  it('writes no control or format character, whatever a field, an error or a message contains', async () => {
    const { log, read } = capture('info');
    // The last ones reorder or hide what an operator reads: bidirectional controls, a zero-width space, a tag.
    const hostile = String.fromCodePoint(
      ...Array.from({ length: 0xa0 }, (_, code) => code),
      ...[0x2028, 0x2029, 0xd800, 0xfeff, 0x61c, 0x202e, 0x2066, 0x2069, 0x200b, 0xe0001],
    );
    log.info({ field: hostile, [hostile]: 1, err: new Error(hostile) }, hostile);
    const lines = (await read()).split('\n');
    assert.equal(lines.length, 2);
    assert.doesNotMatch(lines[0]!, /[\p{Cc}\p{Cf}\u2028\u2029]/u);
    const line = JSON.parse(lines[0]!) as { field: string; msg: string; err: { message: string } };
    for (const read of [line.field, line.msg, line.err.message]) assert.equal(read, hostile);
  });

  it('follows its level, set while it is used', async () => {
    const { log, read } = capture('info');
    log.debug('before');
    log.level = 'debug';
    log.debug('meanwhile');
    log.level = 'warn';
    log.info('after');
    assert.deepEqual(
      (await read())
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { msg: string }).msg),
      ['meanwhile'],
    );
  });

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
