import { isLive, request } from './connection.js';

const SHOWN_MS = 3_000;
const INTERVAL_MS = 2_000;
const place = document.querySelector('#typing');

/** Timers of the users who are typing, by name. */
const typing = new Map();
let toldAt = -INTERVAL_MS;

/** Another user types: shown for 3 s after the last key. */
export function showTyping(user) {
  clearTimeout(typing.get(user));
  typing.set(
    user,
    setTimeout(() => hideTyping(user), SHOWN_MS),
  );
  render();
}

export function hideTyping(user) {
  clearTimeout(typing.get(user));
  typing.delete(user);
  render();
}

/** This user types: told to the others every 2 s. What is typed while the socket is lost is of no interest later. */
export function tellTyping(room, user) {
  if (!isLive || performance.now() - toldAt < INTERVAL_MS) return;
  toldAt = performance.now();
  request('mutation ($room: ID!, $user: String!) { type(room: $room, user: $user) }', { room, user }).catch(() => {});
}

/** The next key is told at once: it begins another message. */
export function endTyping() {
  toldAt = -INTERVAL_MS;
}

function render() {
  const names = [...typing.keys()];
  place.textContent = names.length === 0 ? '' : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} typing …`;
}
