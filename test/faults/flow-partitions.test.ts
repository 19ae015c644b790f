import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import kafkajs from 'kafkajs';
import { channelName } from '../../src/bus/channel.ts';
import { audit, summaryOf } from '../support/ledger.ts';
import { withKafka } from '../support/with-kafka.ts';
import { openSocket } from '../support/socket.ts';
import { MARK, Subscriber } from '../support/subscriber.ts';
import { isFull } from './form.ts';
import { LedgerStream } from './ledger-stream.ts';
import type { LedgerStreamOptions } from './ledger-stream.ts';
import { createStage } from './stage.ts';
import { Trial, entriesQuery } from './trial.ts';

const FLOOD = { records: isFull ? 6000 : 4000, recordsPerSecond: 4000, contentLength: 2000 };
const RECORDS = FLOOD.records / 2;

describe('flow control of partitions', () => {
  let brokers: string;
  withKafka((started) => (brokers = started));

  it('slows the partition of a hot key, but none without watchers, with other subscribers than gateways, or with other watchers', async (t) => {
    const lanes = { hot: '0', unwatched: '1', foreign: '2', calm: '3' };
    const stage = await createStage(t, { brokers, partitions: 4 });
    const [gateway] = await Promise.all([stage.start('gateway'), stage.start('worker')]);
    const redis = new Redis(stage.redis.url);
    t.after(() => redis.disconnect());
    // Like redis-cli, this subscriber sends no flow reports.
    await redis.subscribe(channelName(`${stage.name}:`, stage.name, [{ path: 'lane', value: lanes.foreign }]));
    let foreign = 0;
    redis.on('message', () => foreign++);
    const watch = (lane: string, work: string) =>
      new Subscriber(t, gateway.url, { query: entriesQuery(work), variables: { lane } });
    const hot = watch(lanes.hot, 'work(ms: 3)');
    const calm = watch(lanes.calm, '');
    const writer = (lane: string, rate: Pick<LedgerStreamOptions, 'records' | 'recordsPerSecond' | 'contentLength'>) =>
      new LedgerStream(t, {
        brokers,
        topic: stage.name,
        partitions: 4,
        lanes: [lane],
        ...rate,
      });
    const flood = [lanes.hot, lanes.unwatched, lanes.foreign].map((lane) =>
      writer(lane, { records: RECORDS, recordsPerSecond: 2000, contentLength: 2000 }),
    );
    const trickle = writer(lanes.calm, { recordsPerSecond: 50 });
    const streams = [...flood, trickle];

    await stage.until('every path to be open', async () => {
      for (const stream of streams) {
        stream.mark(MARK.start);
        stream.flush();
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      return hot.started.size === 1 && calm.started.size === 1 && foreign > 0;
    });
    for (const stream of streams) stream.start();
    await stage.until('the flood', () => flood.every(({ written }) => written.length === RECORDS));
    const since = performance.now();
    // Kafka has all of them.
    await Promise.all(flood.slice(1).map((stream) => stream.end()));
    await stage.until(
      'the end of the unwatched partition',
      async () => (await lagOf(brokers, stage.name, lanes.unwatched)) === 0,
    );
    const unwatchedMs = performance.now() - since;
    await stage.until(
      'the end of the partition that only others watch',
      async () => (await lagOf(brokers, stage.name, lanes.foreign)) === 0,
    );
    const foreignMs = performance.now() - since;
    const hotThen = hot.received.length;
    t.diagnostic(
      `unwatched: all after ${unwatchedMs.toFixed(0)} ms; subscribed by others: after ${foreignMs.toFixed(0)} ms; ` +
        `hot: ${hotThen} of ${flood[0]!.written.length} by then`,
    );
    const before = trickle.written.length;
    await stage.until('what is calm', () => calm.received.length >= before);
    assert.ok(hot.received.length < flood[0]!.written.length, 'the hot partition was done before the others');

    trickle.stop();
    for (const stream of [flood[0]!, trickle]) stream.mark(MARK.end);
    await Promise.all([flood[0]!.end(), trickle.end()]);
    await stage.until('the end marks', () => hot.finished.size === 1 && calm.finished.size === 1);
    assert.deepEqual(
      [
        summaryOf(audit(flood[0]!.written, hot.received)),
        summaryOf(audit(trickle.written, calm.received)),
        hot.gaps + calm.gaps,
      ],
      ['', '', 0],
    );
  });

  it('closes a socket that does not read with 1013, and delivers everything to the others', async (t) => {
    const stage = await createStage(t, { brokers, partitions: 4 });
    // The socket, which answers no ping either, is to be closed for its queue.
    const patient = { PING_INTERVAL_MS: '600000' };
    const [gateway] = await Promise.all([stage.start('gateway', patient), stage.start('worker')]);
    const stalled = await openSocket(t, gateway.url);
    await stalled.init();
    stalled.subscribe('1', entriesQuery());
    const trial = await Trial.start(t, stage, [gateway], { ...FLOOD, work: 'work(ms: 1)' });
    stalled.pause();
    trial.takeLongestSilence();
    await trial.isWritten();
    await gateway.counts('crier_slow_consumers_total', 1);
    stalled.resume();
    assert.equal((await stalled.expectClose()).code, 1013);
    trial.took('silence beside the socket', trial.takeLongestSilence(), 6000);
    assert.deepEqual(await trial.finish(), []);
  });
});

/** Records of a partition after the group's committed offset. */
async function lagOf(brokers: string, topic: string, partition: string): Promise<number> {
  const admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const ends = await admin.fetchTopicOffsets(topic);
    const [committed] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
    const end = Number(ends.find((one) => `${one.partition}` === partition)!.offset);
    return end - Number(committed!.partitions.find((one) => `${one.partition}` === partition)!.offset);
  } finally {
    await admin.disconnect();
  }
}
