import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { Peers } from '../../../src/ops/admin/peers.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { logLines } from '../../bus/log-lines.ts';
import { redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A pod that answers with the question and its name; not to `fail`. */
async function startPeer(t: TestContext, url: string, podName: string, beatMs?: number) {
  const { log, lines } = logLines();
  const bus = new RedisBus({ url: url, prefix: 'crier:', log: logLines().log });
  const answer = (question: string) =>
    question === 'fail' && podName !== 'a'
      ? Promise.reject(new Error('of this test'))
      : Promise.resolve(question + podName);
  const peers = new Peers<string, string>({ control: bus.control, podName, answer, log, ...(beatMs && { beatMs }) });
  t.after(async () => {
    await peers.close();
    await bus.close();
  });
  await bus.start();
  await peers.start();
  return { peers, bus, lines };
}

describe('the pods of one Redis', { concurrency: 4 }, () => {
  it('answer each other, also if their names are equal, and name those that cannot', async (t) => {
    const { url } = await redisServer(t);
    const [a, , second] = [await startPeer(t, url, 'a'), await startPeer(t, url, 'b'), await startPeer(t, url, 'b')];
    const { answers, ...rest } = await a.peers.ask('1');
    assert.deepEqual(rest, { ids: rest.ids, silent: [], isAsked: true });
    assert.deepEqual(answers[0], { pod: 'a', answer: '1a' });
    assert.deepEqual(answers.slice(1), Array(2).fill({ pod: 'b', answer: '1b' }));
    const failed = await a.peers.ask('fail');
    assert.deepEqual(failed, { answers: [{ pod: 'a', answer: 'faila' }], ids: [], silent: ['b', 'b'], isAsked: true });
    assert.match(JSON.stringify(second.lines), /a question of another pod could not be answered/);
    await second.peers.close();
    assert.equal((await a.peers.ask('2')).answers.length, 3, 'it answers until its bus is closed');
    await second.bus.close();
    assert.deepEqual(await a.peers.ask('3').then(({ silent }) => silent), []);
  });

  it('expect no answer of a pod that ended without taking leave, once it has missed three beats', async (t) => {
    const { url } = await redisServer(t);
    const [a, b] = [await startPeer(t, url, 'a', 200), await startPeer(t, url, 'b', 200)];
    await b.bus.close();
    const asked = await waitFor('the end of its registration', async () => {
      const answer = await a.peers.ask('1', { patienceMs: 100 });
      return answer.silent.length === 0 ? answer : undefined;
    });
    assert.deepEqual(asked.answers, [{ pod: 'a', answer: '1a' }]);
  });

  it('do not call a pod silent that was replaced by one of its name', async (t) => {
    const { url } = await redisServer(t);
    const [a, former] = [await startPeer(t, url, 'a'), await startPeer(t, url, 'b')];
    await former.bus.close();
    await startPeer(t, url, 'b');
    const { answers, silent } = await a.peers.ask('1', { patienceMs: 2000 });
    assert.deepEqual([answers.map(({ pod }) => pod), silent], [['a', 'b'], []]);
  });

  it('ignore texts that are no questions and no answers', async (t) => {
    const { url } = await redisServer(t);
    const { peers, bus, lines } = await startPeer(t, url, 'a');
    for (const text of ['', '{', 'null', '1', '{}']) await bus.control.send('control:questions', text);
    await waitFor('a line in the log', () => lines.length > 0);
    assert.deepEqual((await peers.ask('1')).answers, [{ pod: 'a', answer: '1a' }]);
  });

  it('begin with a question before what its sender wrote after it', async (t) => {
    const { url } = await redisServer(t);
    const events: string[] = [];
    const bus = new RedisBus({ url: url, prefix: 'crier:', log: logLines().log });
    const answer = (question: string) => Promise.resolve((events.push(question), question));
    const peers = new Peers<string, string>({ control: bus.control, podName: 'a', answer, log: logLines().log });
    t.after(async () => {
      await peers.close();
      await bus.close();
    });
    await bus.start();
    await peers.start();
    await bus.control.listen(
      'control:later',
      (text) => void events.push(text),
      () => undefined,
    );
    const client = new Redis(url);
    t.after(() => client.disconnect());
    // In one packet.
    const question = JSON.stringify({ id: '1', from: 'another pod', question: 'question' });
    await client.pipeline().publish('crier:control:questions', question).publish('crier:control:later', 'later').exec();
    await waitFor('both', () => events.length === 2);
    assert.deepEqual(events, ['question', 'later']);
  });

  it('know each other again after Redis has lost its data', async (t) => {
    const server = await redisServer(t);
    const [a, b] = [await startPeer(t, server.url, 'a'), await startPeer(t, server.url, 'b')];
    const client = new Redis(server.url);
    t.after(() => client.disconnect());
    await client.flushall();
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await waitFor('both', async () => (await a.bus.control.kept('control:pods').catch(() => [])).length === 2);
    assert.equal((await b.peers.ask('1')).answers.length, 2);
  });
});
