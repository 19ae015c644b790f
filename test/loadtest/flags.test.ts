import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startLoadTest } from './load-test-command.ts';

describe('npm run loadtest', () => {
  for (const [flags, line] of [
    [['--nope'], /^loadtest: Unknown option '--nope'/],
    [['--sockets', '-5'], /^loadtest: Option '--sockets' argument is ambiguous/],
    [['--ladder', '--nope'], /^loadtest: Unknown option '--nope'/],
    [['--producer', 'none'], /^loadtest: --producer: expected kcat, kafkajs, got "none"/],
    [['--ahead', '9', '--times', '3'], /^loadtest: --times: cannot be combined with --ahead\n/],
    [['--ahead', '9', '--pace', '3'], /^loadtest: --pace: cannot be combined with --ahead\n/],
    [['--pods', 'one,apart,one'], /^loadtest: --pods: "one" is named twice\n/],
  ] as const) {
    it(`exits with 1 and one line before it starts anything: ${flags.join(' ')}`, async (t) => {
      const run = startLoadTest(t, flags);
      const [code] = (await run.exited) as [number];
      assert.equal(code, 1);
      assert.match(run.output, line);
      assert.doesNotMatch(run.output, /\n {4}at /);
    });
  }
});
