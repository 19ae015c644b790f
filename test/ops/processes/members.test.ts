import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { SetupError, StoppedError } from '../../../src/base/errors.ts';
import type { PodProcess } from '../../../src/ops/processes/pod-process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { memberOf, membersOf, signal } from './stage.ts';
import type { Behaviour } from './stage.ts';

describe('the processes of a pod', () => {
  it('are replaced when they are killed, while the others go on, and end together', async (t) => {
    const ended: PodProcess[] = [];
    const members = membersOf(t, { behaviours: () => 'serve', onEnd: (process) => ended.push(process) });
    assert.deepEqual(await members.start(), { port: 4000, graphName: 'test', operation: '' });
    const [one, other] = [memberOf(members, 'gateway-1').process, memberOf(members, 'gateway-2').process];
    signal(memberOf(members, 'gateway-1'), 'SIGKILL');
    await waitFor('the replacement', () => ended.length === 1 && memberOf(members, 'gateway-1').process?.isServing);
    assert.equal(ended[0], one);
    assert.equal(memberOf(members, 'gateway-2').process, other);
    assert.deepEqual(
      members.all.map(({ name, ends }) => [name, ends]),
      [
        ['gateway-1', 1],
        ['gateway-2', 0],
      ],
    );
    await members.close();
    await members.close();
    assert.deepEqual(
      members.all.map(({ process }) => process),
      [undefined, undefined],
    );
  });

  it('are killed and replaced when they do not serve in time, and the log names them', async (t) => {
    const behaviours: Behaviour[] = ['serve', 'serve', 'wait'];
    const lines: Record<string, unknown>[] = [];
    const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
    const members = membersOf(t, { behaviours: () => behaviours.shift() ?? 'serve', log, maxStartMs: 2000 });
    await members.start();
    signal(memberOf(members, 'gateway-1'), 'SIGKILL');
    await waitFor('the process that hangs', () => memberOf(members, 'gateway-1').ends === 1 && behaviours.length === 0);
    const { pid } = memberOf(members, 'gateway-1').process!;
    await waitFor('the replacement', () => memberOf(members, 'gateway-1').process?.isServing);
    const [killed] = lines.filter(({ msg }) => /does not serve/.test(String(msg)));
    assert.deepEqual([killed?.['process'], killed?.['pid'], killed?.['maxStartMs']], ['gateway-1', pid, 2000]);
    const followed = lines.filter(({ msg }) => /another one follows/.test(String(msg)));
    assert.deepEqual(
      followed.map(({ pid: ended, exitSignal, backoffMs }) => [ended === pid, exitSignal, backoffMs]),
      [
        [false, 'SIGKILL', 0],
        [true, 'SIGKILL', 1000],
      ],
    );
    await members.close();
  });

  it('end the start when one of them crashes again and again', async (t) => {
    const members = membersOf(t, { behaviours: (name) => (name === 'gateway-2' ? 'crash' : 'serve') });
    await assert.rejects(members.start(), /^Error: gateway-2 ended 3 times before it served, at last with code 3$/);
    await members.close();
  });

  it('end the start at once when one of them says what a person has to fix', async (t) => {
    const members = membersOf(t, { behaviours: (name) => (name === 'gateway-2' ? 'refuse' : 'wait') });
    await assert.rejects(members.start(), (error) => {
      assert.ok(error instanceof SetupError);
      return error.message === 'GRAPH: no such folder';
    });
    await members.close();
  });

  it('end when the pod is stopped while they start', async (t) => {
    const members = membersOf(t, { behaviours: () => 'wait' });
    const starting = assert.rejects(members.start(), StoppedError);
    await members.close();
    await starting;
    assert.deepEqual(
      members.all.map(({ ends }) => ends),
      [1, 1],
    );
  });

  it('answer nothing, and harm nobody, once they have ended', async (t) => {
    const members = membersOf(t, { behaviours: () => 'serve' });
    await members.start();
    const { process } = memberOf(members, 'gateway-1');
    signal(memberOf(members, 'gateway-1'), 'SIGKILL');
    process!.order('SIGHUP');
    assert.equal(await process!.ask('/healthz', 5000), undefined);
    await process!.ended;
    process!.order('SIGHUP');
    assert.equal(await process!.ask('/healthz', 5000), undefined);
    await members.close();
  });
});
