import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CredentialHook } from '../../src/base/credential-hook.ts';
import type { Credentials } from '../../src/base/credential-hook.ts';
import { ConfigError } from '../../src/base/errors.ts';
import { logLines } from '../bus/log-lines.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const LIFE_MS = 900_000;

/** Answers of the module, in order; the last one again and again. Functions, as the module's code. */
async function hookOf(t: TestContext, ...answers: readonly string[]) {
  const path = join(await temporaryFolder(t), 'hook.mjs');
  await writeFile(
    path,
    `const answers = [${answers.join(', ')}];
export default () => (answers.length > 1 ? answers.shift() : answers[0])();`,
  );
  const { log, lines } = logLines();
  const changes: Credentials[] = [];
  const hook = new CredentialHook({ setting: 'CREDENTIALS', path, log, onChange: (given) => changes.push(given) });
  t.after(() => hook.close());
  return { hook, changes, lines, path };
}

const token = (password: string, life = LIFE_MS) =>
  `() => ({ password: '${password}', expiresAt: Date.now() + ${life} })`;
const FAILURE = `() => Promise.reject(new Error('no route to the token service'))`;

/** Lets the timers of the next `ms` run, and what follows from them. */
async function pass(t: TestContext, ms: number): Promise<void> {
  t.mock.timers.tick(ms);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

describe('CredentialHook', () => {
  it('calls the module again after three quarters of the life of its credentials', async (t) => {
    const { hook, changes } = await hookOf(t, token('first'), token('second'), token('third'));
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
    assert.equal((await hook.read()).password, 'first');
    hook.watch();
    await pass(t, LIFE_MS * 0.75 - 1);
    assert.deepEqual(changes, []);
    await pass(t, 1);
    await pass(t, LIFE_MS * 0.75);
    assert.deepEqual(
      changes.map(({ password }) => password),
      ['second', 'third'],
    );
  });

  it('does not call it again for credentials that do not expire', async (t) => {
    const { hook, changes } = await hookOf(t, `() => ({ username: 'ann', password: 'x' })`);
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    assert.deepEqual(await hook.read(), { username: 'ann', password: 'x', expiresAt: undefined });
    hook.watch();
    await pass(t, 86_400_000);
    assert.deepEqual(changes, []);
  });

  it('repeats a failed call after 1 s, 2 s, 4 s, and says when the old credentials have expired', async (t) => {
    const { hook, changes, lines } = await hookOf(t, token('first', 8000), FAILURE, FAILURE, FAILURE, token('second'));
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
    await hook.read();
    hook.watch();
    for (const ms of [6000, 1000, 2000, 4000]) await pass(t, ms);
    assert.deepEqual(
      lines.map(({ level, msg, reason }) => [level, msg, reason]),
      [
        [
          40,
          'CREDENTIALS gave no new credentials: the old ones stay in use; called again soon',
          'no route to the token service',
        ],
        [
          40,
          'CREDENTIALS gave no new credentials: the old ones stay in use; called again soon',
          'no route to the token service',
        ],
        [
          50,
          'CREDENTIALS gave no new credentials: the old ones have expired and stay in use; called again soon',
          'no route to the token service',
        ],
      ],
    );
    assert.deepEqual(
      changes.map(({ password }) => password),
      ['second'],
    );
  });

  for (const [what, answer] of [
    ['no object', '() => undefined'],
    ['no password', `() => ({ username: 'ann' })`],
    ['an empty password', `() => ({ password: '' })`],
    ['a number as user', `() => ({ username: 7, password: 'hunter2' })`],
    ['a date that is none', `() => ({ password: 'hunter2', expiresAt: new Date('soon') })`],
    ['an expired token', `() => ({ password: 'hunter2', expiresAt: new Date(0) })`],
    ['an error', FAILURE],
  ] as const) {
    it(`refuses to start with a module that returns ${what}, and shows no value`, async (t) => {
      const { hook, path } = await hookOf(t, answer);
      await assert.rejects(hook.read(), (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.ok(error.message.startsWith(`CREDENTIALS: ${path}: `), error.message);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    });
  }

  it('refuses a module without a function as its default export, and one that is missing', async (t) => {
    const { hook, path } = await hookOf(t, '1');
    await writeFile(path, 'export const credentials = 1;');
    await assert.rejects(hook.read(), /expected a function as the default export/);
    const { log } = logLines();
    const missing = new CredentialHook({
      setting: 'CREDENTIALS',
      path: './nowhere.js',
      log,
      onChange: () => undefined,
    });
    await assert.rejects(missing.read(), /^ConfigError: CREDENTIALS: \.\/nowhere\.js: Cannot find module/);
  });

  it('ends a call after 10 s', async (t) => {
    const { hook } = await hookOf(t, '() => new Promise(() => undefined)');
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    let isEnded = false;
    const reading = hook.read().finally(() => (isEnded = true));
    reading.catch(() => undefined);
    // On a busy machine, loading the module takes any number of turns of the event loop.
    while (!isEnded) await pass(t, 100);
    await assert.rejects(reading, /it did not answer within 10000 ms/);
  });
});
