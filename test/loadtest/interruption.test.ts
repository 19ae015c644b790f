import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupMembers, signalGroup } from '../support/process-group.ts';
import { startLoadTest } from './load-test-command.ts';

const SMALL = ['--clients', '40', '--resuming', '10', '--auctions', '20', '--rate', '40', '--delay', '60000'];

describe('Ctrl-C', () => {
  for (const { what, scenario, flags, isRunning } of [
    {
      what: 'the story in its flood',
      flags: [
        '--producer',
        'kafkajs',
        '--sockets',
        '50',
        '--bare',
        '1',
        '--idle',
        '1',
        '--pace',
        '1',
        '--flood',
        '600',
      ],
      isRunning: /^flood/m,
    },
    {
      what: 'a drain with three pods and a balancer',
      scenario: 'drain',
      flags: SMALL,
      isRunning: /^SIGTERM/m,
    },
    {
      what: "the ladder on one of the talk's rungs",
      flags: ['--ladder', '--sockets', '50', '--parts', 'baseline', '--bare', '1', '--idle', '1', '--flood', '600'],
      isRunning: /^baseline \.\.\./m,
    },
  ]) {
    it(`ends ${what} and every process it started`, async (t) => {
      const run = startLoadTest(t, flags, scenario);
      await run.printed(isRunning);
      signalGroup(run.child.pid!, 'SIGINT');
      const [code] = (await run.exited) as [number];
      assert.equal(code, 130, run.output);
      assert.match(run.output, /stopped by SIGINT/);
      assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
    });
  }
});
