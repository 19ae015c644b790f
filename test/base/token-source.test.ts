import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TokenSource } from '../../src/base/token-source.ts';
import type { Token, TokenProvider } from '../../src/base/token-source.ts';
import { waitFor } from '../support/wait-for.ts';

const HOUR_MS = 3_600_000;

describe('TokenSource', () => {
  function sourceOf(
    t: TestContext,
    provider: TokenProvider,
    options: { timeoutMs?: number; backoffMs?: [number, number] } = {},
  ) {
    const source = new TokenSource({ load: () => Promise.resolve(provider), ...options });
    t.after(() => source.close());
    return source;
  }

  it('gives one token to all logins until 80 % of its lifetime', async (t) => {
    let calls = 0;
    const source = sourceOf(t, () => ({ value: `${++calls}`, expiresAt: Date.now() + HOUR_MS }));
    assert.deepEqual(await Promise.all([source.token(), source.token()]), ['1', '1']);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 0.7 * HOUR_MS });
    assert.equal(await source.token(), '1');
    t.mock.timers.setTime(Date.now() + 0.15 * HOUR_MS);
    assert.equal(await source.token(), '2');
  });

  it('asks for each login if the provider does not say when a token expires', async (t) => {
    let calls = 0;
    const source = sourceOf(t, () => ({ value: `${++calls}` }));
    assert.deepEqual([await source.token(), await source.token()], ['1', '2']);
  });

  for (const clock of ['in step with the timers', 'that stands']) {
    it(`replaces a token before it expires, and reports each failure once, with the end of the present one, by a clock ${clock}`, async (t) => {
      const now = Date.now();
      if (clock === 'that stands') t.mock.method(Date, 'now', () => now);
      let calls = 0;
      const failures: string[] = [];
      const source = sourceOf(
        t,
        () => {
          calls++;
          if (calls === 2 || calls === 3) throw new Error('away');
          return { value: `${calls}`, expiresAt: Date.now() + (calls === 1 ? 20_100 : HOUR_MS) };
        },
        { backoffMs: [10, 20] },
      );
      source.keepFresh(({ message }, expiresAt) => {
        assert.ok(expiresAt > Date.now());
        failures.push(message);
      });
      assert.equal(await source.token(), '1');
      await waitFor('the fourth call', () => calls === 4);
      assert.equal(await source.token(), '4');
      assert.deepEqual(failures, ['the token provider failed: away', 'the token provider failed: away']);
    });
  }

  it('uses a token that is valid while its replacement fails, and does not ask again within the back-off', async (t) => {
    let calls = 0;
    const source = sourceOf(t, () => {
      if (++calls > 1) throw new Error('away');
      return { value: '1', expiresAt: Date.now() + 15_000 };
    });
    assert.deepEqual([await source.token(), await source.token(), await source.token()], ['1', '1', '1']);
    assert.equal(calls, 2);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 16_000 });
    await assert.rejects(source.token(), /the token provider failed: away/);
  });

  it('does not ask again within the back-off for a replacement that a login has asked for in vain', async (t) => {
    let calls = 0;
    const source = sourceOf(t, () => {
      if (++calls > 1) throw new Error('away');
      return { value: '1', expiresAt: Date.now() + 20_100 };
    });
    source.keepFresh(() => assert.fail('it asked again'));
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    await source.token();
    t.mock.timers.setTime(Date.now() + 100);
    await source.token();
    // Fires after the timer of the replacement, which is as long and was set before.
    await delay(100);
    assert.equal(calls, 2);
  });

  const bad: readonly (readonly [what: string, provider: TokenProvider, expected: RegExp])[] = [
    ['that hangs', () => new Promise<Token>(() => undefined), /did not answer within 50 ms/],
    ['that returns no text', () => ({ value: 7 }) as unknown as Token, /returned no \{ value \} that is a text/],
    ['that returns nothing', () => undefined as unknown as Token, /returned no \{ value \}/],
    ['whose token has expired', () => ({ value: 'x', expiresAt: 1 }), /a token that has expired/],
    ['that says the time in seconds', () => ({ value: 'x', expiresAt: Date.now() / 1000 + 900 }), /in ms since 1970/],
  ];
  for (const [what, provider, expected] of bad) {
    it(`refuses a provider ${what}`, async (t) => {
      await assert.rejects(sourceOf(t, provider, { timeoutMs: 50 }).token(), expected);
    });
  }
});
