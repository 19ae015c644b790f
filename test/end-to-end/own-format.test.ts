import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { watch } from '../support/stock-client.ts';
import { startPod } from './pod-server.ts';
import { podSettings } from './pod-settings.ts';

/** As much of CBOR (RFC 8949) as the test needs; a team imports a package. */
const FORMATS = `
import type { LoadFormat } from 'crier/graph';

export const CBOR: LoadFormat = () => (value) => {
  let at = 0;
  const read = (): unknown => {
    const head = value[at++]!;
    const count = head & 31;
    if (count > 23) throw new Error('a length of several bytes');
    if (head >> 5 === 0) return count;
    if (head >> 5 === 3) return value.toString('utf8', at, (at += count));
    if (head >> 5 !== 5) throw new Error('another type');
    return Object.fromEntries(Array.from({ length: count }, () => [read(), read()]));
  };
  return read();
};
`;

const order = (id: number) =>
  Buffer.from([0xa2, 0x67, ...Buffer.from('orderId'), id, 0x64, ...Buffer.from('note'), 0x61, 0x6e]);

describe('records of a format that the graph brings in one file', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('arrive with the names of the graph, and those that its decoder refuses are dead letters', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = await podSettings(
      t,
      outside.brokers,
      `type Order { order_id: Int note: String }
       type Subscription { order(id: Int): Order @kafka(topic: "${topic}", format: CBOR, match: [{ arg: "id", path: "order_id" }]) }`,
    );
    await writeFile(join(settings.GRAPH, 'formats.ts'), FORMATS);
    const pod = await startPod(t, { ...settings, KAFKA_FROM_BEGINNING: 'true' });
    const all = watch(t, pod.url, 'subscription { order { order_id note } }');
    const one = watch(t, pod.url, 'subscription { order(id: 8) { order_id } }');
    await pod.counts('crier_channels', 2);
    await outside.sendValues(topic, [order(7), Buffer.from([0xff]), order(8)]);
    await all.event(2, 30_000);
    await one.event(1, 30_000);
    assert.deepEqual(
      all.events.map((event) => event['order']),
      [7, 8].map((id) => ({ order_id: id, note: 'n' })),
    );
    assert.deepEqual(one.events[0]!['order'], { order_id: 8 });
    assert.equal(await pod.metric('crier_poison_records_total'), 1);
  });
});
