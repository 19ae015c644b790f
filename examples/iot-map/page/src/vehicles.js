/** A vehicle is certainly not silent yet, in ms. */
const LEAST_SILENCE_MS = 4_000;
const RATE_WINDOW_MS = 2_000;

/**
 * The vehicles on the map. Events change this map, as many as come; a frame reads it. So the number of events costs no drawing.
 */
export class Vehicles {
  /** Events since the page was loaded. */
  events = 0;
  #byId = new Map();
  #marks = [];

  get size() {
    return this.#byId.size;
  }

  /** Events per second, lately. */
  get rate() {
    const [oldest, newest] = [this.#marks[0], this.#marks.at(-1)];
    return newest?.at > oldest?.at ? ((newest.events - oldest.events) * 1000) / (newest.at - oldest.at) : 0;
  }

  /** Times are those of `performance.now()`. */
  move(vehicle, now) {
    this.events++;
    const before = this.#byId.get(vehicle.id);
    const from = before ? placeOf(before, now) : vehicle;
    // It arrives where it is when its next event is due.
    const glideMs = before ? Math.min(now - before.seenAt, 2_000) : 0;
    this.#byId.set(vehicle.id, { ...vehicle, from: { lat: from.lat, lng: from.lng }, seenAt: now, glideMs });
  }

  remove(id) {
    this.#byId.delete(id);
  }

  /** Removes what the test does not accept. */
  keep(isKept) {
    for (const [id, vehicle] of this.#byId) if (!isKept(vehicle)) this.#byId.delete(id);
  }

  /**
   * Vehicles with their place in this frame. `strength` falls from 1 to 0 while no event comes of one: it has left the part of the city that is
   * watched, or its tombstone has come, which has no fields to know it by.
   */
  *at(now) {
    const silence = Math.max(LEAST_SILENCE_MS, (4_000 * this.size) / (this.rate || 1));
    for (const vehicle of this.#byId.values()) {
      const strength = Math.min(1, 2 - (now - vehicle.seenAt) / silence);
      if (strength > 0) yield { ...vehicle, ...placeOf(vehicle, now), strength };
      else this.#byId.delete(vehicle.id);
    }
  }

  /** Called a few times a second, so that the rate is known. */
  mark(now) {
    this.#marks.push({ at: now, events: this.events });
    while (this.#marks[0].at < now - RATE_WINDOW_MS) this.#marks.shift();
  }
}

function placeOf({ from, lat, lng, seenAt, glideMs }, now) {
  const part = glideMs > 0 ? Math.min((now - seenAt) / glideMs, 1) : 1;
  return { lat: from.lat + (lat - from.lat) * part, lng: from.lng + (lng - from.lng) * part };
}
