import { client, noteExtensions } from './connection.js';
import { Followed } from './followed.js';
import { MapView } from './map-view.js';
import { Vehicles } from './vehicles.js';

const MOVED = `subscription ($kinds: [Kind!], $south: Float, $north: Float, $west: Float, $east: Float) {
  vehiclesMoved(kinds: $kinds, south: $south, north: $north, west: $west, east: $east) { id kind lat lng heading }
}`;
const CLICK_PIXELS = 6;

const canvas = document.querySelector('#map');
const filter = document.querySelector('#filter');
const wholeCity = document.querySelector('#whole');
const follow = document.querySelector('#follow');
const stats = document.querySelector('#stats');

const vehicles = new Vehicles();
const view = new MapView(canvas);
const followed = new Followed(
  (vehicle) => isWatched(vehicle) || vehicles.move(vehicle, performance.now()),
  (id) => vehicles.remove(id),
);

/** The part of the city that is watched; undefined: all of it. */
let box;
/** While the user drags. */
let draft;
let stop = () => {};

const kinds = () => new FormData(filter).getAll('kind');

function isWatched({ kind, lat, lng }) {
  const isInside = !box || (lat >= box.south && lat <= box.north && lng >= box.west && lng <= box.east);
  return isInside && kinds().includes(kind);
}

/** Other filters are another subscription. crier leaves out the other vehicles' events, before they cost anything. */
function watch() {
  stop();
  wholeCity.disabled = !box;
  vehicles.keep((vehicle) => isWatched(vehicle) || followed.has(vehicle.id));
  // An empty list is refused: it would match nothing.
  if (kinds().length === 0) return (stop = () => {});
  stop = client.subscribe(
    { query: MOVED, variables: { kinds: kinds(), ...box } },
    {
      next: ({ data, extensions }) => {
        noteExtensions(extensions);
        vehicles.move(data.vehiclesMoved, performance.now());
      },
      error: (problem) => (stats.textContent = `The map is not live: ${problem[0]?.message ?? problem}`),
      complete: () => {},
    },
  );
}

function drawFrame(now) {
  view.draw(vehicles.at(now), followed, draft ?? box);
  requestAnimationFrame(drawFrame);
}

function showStats() {
  vehicles.mark(performance.now());
  stats.textContent = `${vehicles.size} vehicles · ${Math.round(vehicles.rate)} events/s · ${vehicles.events} events`;
}

const pointOf = ({ offsetX: x, offsetY: y }) => ({ x, y });
let pressed;
canvas.addEventListener('pointerdown', (event) => {
  canvas.setPointerCapture(event.pointerId);
  pressed = pointOf(event);
});
canvas.addEventListener('pointermove', (event) => {
  if (pressed) draft = view.boxOf(pressed, pointOf(event));
});
canvas.addEventListener('pointerup', (event) => {
  const [from, to] = [pressed, pointOf(event)];
  pressed = draft = undefined;
  if (Math.hypot(from.x - to.x, from.y - to.y) > CLICK_PIXELS) {
    box = view.boxOf(from, to);
    return watch();
  }
  const id = view.vehicleAt(to.x, to.y);
  if (id !== undefined) followed.add(id);
});
canvas.addEventListener('pointercancel', () => (pressed = draft = undefined));

filter.addEventListener('change', watch);
filter.addEventListener('reset', (event) => {
  event.preventDefault();
  box = undefined;
  watch();
});
follow.addEventListener('submit', (event) => {
  event.preventDefault();
  followed.add(follow.elements.id.value.trim());
  follow.reset();
});

watch();
setInterval(showStats, 250);
requestAnimationFrame(drawFrame);
