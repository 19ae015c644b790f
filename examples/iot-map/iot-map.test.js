import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { startGraph } from 'crier/testing';

const graph = await startGraph(import.meta.dirname);
after(() => graph.close());

/** @param {string} id @param {object} place */
const move = (id, place) =>
  graph.publish('vehicles', { id, kind: id.split('-')[0]?.toUpperCase(), lat: 50, lng: 8, ...place }, { key: id });

it('delivers the vehicles of a kind in a part of the city', async () => {
  const part = 'kinds: [TRAM, BUS], south: 49.99, north: 50.01, west: 7.99, east: 8.01';
  const events = await graph.subscribe(`subscription { vehiclesMoved(${part}) { id } }`);
  await move('tram-1', { lat: 50.02 });
  await move('tram-2', { lng: 7.98 });
  await move('bike-3', {});
  await move('bus-4', {});
  assert.deepEqual((await events.next()).value?.data, { vehiclesMoved: { id: 'bus-4' } });
});

it('begins a vehicle with its last position, and completes it when it is taken out of service', async () => {
  await move('van-5', { speed: 30 });
  const events = await graph.subscribe('subscription { vehicleMoved(id: "van-5") { speed } }');
  assert.deepEqual((await events.next()).value?.data, { vehicleMoved: { speed: 30 } });
  await graph.publish('vehicles', null, { key: 'van-5' });
  assert.equal((await events.next()).done, true);
  assert.deepEqual(await graph.query('{ vehicle(id: "van-5") { speed } }'), { data: { vehicle: null } });
});
