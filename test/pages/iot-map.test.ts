import assert from 'node:assert/strict';
import { it } from 'node:test';
import kafkajs from 'kafkajs';
import { createGraphTopics, readTopics } from '../../stack/topics.ts';
import { kafkaBrokers } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { openStage, runProgram } from './stage.ts';

/** Trams are 2 of 13 routes of the 120 vehicles, and those whose shift has ended fade. */
const MOST_TRAMS = 40;

it('examples/iot-map', async (t) => {
  const brokers = await kafkaBrokers(t);
  await createGraphTopics(brokers, (await readTopics('examples/iot-map'))!);
  const producer = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).producer({
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  t.after(() => producer.disconnect());
  /** A speed of a van in the middle of the city; null takes it out of service. */
  const write = (speed: number | null) => {
    const van = { id: 'van-9', kind: 'VAN', lat: 50, lng: 8, heading: 90, speed, battery: 80 };
    const value = speed === null ? null : JSON.stringify(van);
    return producer.send({ topic: 'vehicles', messages: [{ key: van.id, value }] });
  };
  const stage = await openStage(t, 'iot-map', { KAFKA_BROKERS: brokers });
  const { page } = stage;
  const card = page.locator('#followed li');
  const stats = async () => {
    const text = (await page.locator('#stats').textContent())!;
    const [vehicles = 0, , events = 0] = (text.match(/\d+/g) ?? []).map(Number);
    return { vehicles, events };
  };

  await t.test('follows a vehicle from its last position on', async () => {
    // The group may join after the first record, and begins with new ones.
    await waitFor('the first event', async () => {
      await write(30);
      return (await stats()).events > 0;
    });
    const { x, y, width, height } = (await page.locator('canvas').boundingBox())!;
    await page.mouse.click(x + width / 2, y + height / 2);
    await card.filter({ hasText: 'van-9' }).filter({ hasText: '30 km/h' }).waitFor();
  });

  await t.test('receives the positions that were written while the pod was away', async () => {
    await stage.stopPod();
    const { events } = await stats();
    for (const speed of [31, 32, 33]) await write(speed);
    await stage.startPod();
    await card.filter({ hasText: '33 km/h' }).waitFor();
    await waitFor('the events', async () => (await stats()).events >= events + 3);
    assert.equal((await stats()).events, events + 3);
    assert.match((await stage.status.textContent())!, /Live.*resumed, nothing missed/);
  });

  await t.test('removes a vehicle at its tombstone', async () => {
    await write(null);
    await card.filter({ hasText: 'was taken out of service' }).waitFor();
    await waitFor('the empty map', async () => (await stats()).vehicles === 0);
  });

  await t.test('shows a fleet, and of it the kinds and the part of the city that the user chooses', async () => {
    const stop = await runProgram(t, ['examples/iot-map/produce.js', '300'], { KAFKA_BROKERS: brokers });
    await waitFor('the fleet', async () => (await stats()).vehicles >= 120);
    for (const kind of ['buses', 'bikes', 'vans']) await page.getByLabel(kind).uncheck();
    await waitFor('the trams', async () => (await stats()).vehicles <= MOST_TRAMS);
    const { events, vehicles } = await stats();
    assert.ok(vehicles > 0);
    await waitFor('more events', async () => (await stats()).events > events);
    for (const kind of ['buses', 'bikes', 'vans']) await page.getByLabel(kind).check();
    await waitFor('the fleet again', async () => (await stats()).vehicles >= 120);
    const { x, y, width, height } = (await page.locator('canvas').boundingBox())!;
    await page.mouse.move(x + width * 0.7, y + height * 0.1);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.95, y + height * 0.4, { steps: 3 });
    await page.mouse.up();
    await waitFor('the part', async () => (await stats()).vehicles < 60);
    await page.getByRole('button', { name: 'Whole city' }).click();
    await waitFor('the whole city', async () => (await stats()).vehicles >= 120);
    await stop();
  });

  await t.test('fills narrow and wide windows, is accessible in both colour schemes, and asks no other server', () =>
    stage.checkPage(),
  );
});
