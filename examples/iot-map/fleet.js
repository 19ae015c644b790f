import { ROUTES } from './city.js';

/** In km/h. */
const SPEEDS = { TRAM: 36, BUS: 30, BIKE: 18, VAN: 44 };
/** Somebody who looks at the map for a minute sees an hour's way. */
const TIME_LAPSE = 8;
/** A vehicle is in service for this time, and then replaced by another, in ms. */
const SHIFT_MS = { least: 20_000, most: 180_000 };
const METRES_PER_DEGREE = 111_320;

/**
 * The records of a fleet without end: each vehicle in turn, where it is now. A vehicle whose shift ends has a tombstone.
 * @param {number} seed equal seeds make equal fleets
 * @returns {Generator<{ key: string, value: object | null }, never>}
 */
export function* drive(seed, size = 120) {
  const random = randomOf(seed);
  let count = 0;
  const enter = (/** @type {number} */ now) => newVehicle(++count, random, now);
  const fleet = Array.from({ length: size }, () => enter(Date.now()));
  for (let turn = 0; ; turn = (turn + 1) % size) {
    const vehicle = /** @type {Vehicle} */ (fleet[turn]);
    const now = Date.now();
    if (now < vehicle.endsAt) yield { key: vehicle.id, value: positionOf(vehicle, now) };
    else {
      yield { key: vehicle.id, value: null };
      fleet[turn] = enter(now);
    }
  }
}

/** @typedef {ReturnType<typeof newVehicle>} Vehicle */

/** @param {number} number @param {() => number} random @param {number} now */
function newVehicle(number, random, now) {
  const { kind, points } = /** @type {(typeof ROUTES)[number]} */ (ROUTES[number % ROUTES.length]);
  const legs = points.map((point, index) => legOf(point, points[(index + 1) % points.length] ?? point));
  const length = legs.reduce((sum, { metres }) => sum + metres, 0);
  return {
    id: `${kind.toLowerCase()}-${number}`,
    kind,
    legs,
    length,
    speed: SPEEDS[/** @type {keyof typeof SPEEDS} */ (kind)] * (0.8 + 0.4 * random()),
    startsAt: now,
    startsFrom: random() * length,
    endsAt: now + SHIFT_MS.least + random() * (SHIFT_MS.most - SHIFT_MS.least),
    battery: 60 + Math.floor(random() * 40),
  };
}

/** @param {number[]} from @param {number[]} to */
function legOf([lng = 0, lat = 0], [toLng = 0, toLat = 0]) {
  const east = (toLng - lng) * METRES_PER_DEGREE * Math.cos((lat * Math.PI) / 180);
  const north = (toLat - lat) * METRES_PER_DEGREE;
  const heading = (Math.round((Math.atan2(east, north) * 180) / Math.PI) + 360) % 360;
  return { lng, lat, toLng, toLat, metres: Math.hypot(east, north), heading };
}

/** @param {Vehicle} vehicle @param {number} now */
function positionOf({ id, kind, legs, length, speed, startsAt, startsFrom, battery }, now) {
  const metres = ((now - startsAt) / 1000) * (speed / 3.6) * TIME_LAPSE;
  let rest = (startsFrom + metres) % length;
  const leg = legs.find((one) => (rest -= one.metres) <= 0) ?? legs[0];
  if (!leg) throw new Error(`${id} has no way`);
  const part = 1 + rest / leg.metres;
  return {
    id,
    kind,
    lat: Number((leg.lat + (leg.toLat - leg.lat) * part).toFixed(6)),
    lng: Number((leg.lng + (leg.toLng - leg.lng) * part).toFixed(6)),
    heading: leg.heading,
    speed: Math.round(speed),
    battery: Math.max(1, battery - Math.floor(metres / 1000)),
  };
}

/** Numbers from 0 to 1 (mulberry32). @param {number} seed */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
