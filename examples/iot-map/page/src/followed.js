import { client } from './connection.js';

const MOVED = 'subscription ($id: ID!) { vehicleMoved(id: $id) { id kind lat lng heading speed battery } }';
const TRAIL_POINTS = 200;
const MAX = 5;
const list = document.querySelector('#followed');

/** Vehicles that the user follows: each is a subscription of its own, whose first event is the last position. */
export class Followed {
  #onMove;
  #onGone;
  #byId = new Map();

  /** @param onGone receives the id of a vehicle that was taken out of service */
  constructor(onMove, onGone) {
    this.#onMove = onMove;
    this.#onGone = onGone;
  }

  has(id) {
    return this.#byId.has(id);
  }

  get trails() {
    return Array.from(this.#byId.values(), ({ trail }) => trail);
  }

  add(id) {
    if (this.#byId.has(id)) return;
    if (this.#byId.size === MAX) this.remove(this.#byId.keys().next().value);
    const card = cardOf(id, () => this.remove(id));
    list.append(card);
    const one = { card, trail: [], stop: () => {} };
    this.#byId.set(id, one);
    one.stop = client.subscribe(
      { query: MOVED, variables: { id } },
      {
        next: ({ data }) => this.#move(one, data.vehicleMoved),
        error: (problem) => say(card, `cannot be followed: ${problem[0]?.message ?? problem}`),
        complete: () => this.#end(id, one),
      },
    );
  }

  remove(id) {
    const one = this.#byId.get(id);
    this.#byId.delete(id);
    one?.card.remove();
    one?.stop();
  }

  #move({ card, trail }, vehicle) {
    trail.push([vehicle.lng, vehicle.lat]);
    if (trail.length > TRAIL_POINTS) trail.shift();
    say(card, `${vehicle.speed} km/h, battery ${vehicle.battery} %`, vehicle.kind.toLowerCase());
    this.#onMove(vehicle);
  }

  /** Also called when the user has removed it. */
  #end(id, { card }) {
    if (!this.#byId.delete(id)) return;
    say(card, 'was taken out of service', 'gone');
    card.querySelector('button').onclick = () => card.remove();
    this.#onGone(id);
  }
}

function cardOf(id, onRemove) {
  const card = document.createElement('li');
  const name = Object.assign(document.createElement('strong'), { textContent: id });
  const text = Object.assign(document.createElement('span'), { textContent: 'no position yet' });
  const button = Object.assign(document.createElement('button'), { textContent: '×', onclick: onRemove });
  button.setAttribute('aria-label', `Do not follow ${id}`);
  card.append(name, text, button);
  return card;
}

function say(card, text, className = card.className) {
  card.className = className;
  card.querySelector('span').textContent = text;
}
