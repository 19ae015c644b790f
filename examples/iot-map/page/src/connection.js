import { createClient } from '@crier/client';

const status = document.querySelector('#status');

function setStatus(isLive, remark = '') {
  status.className = isLive ? 'live' : 'lost';
  status.textContent = isLive ? 'Live' : 'Connecting …';
  if (remark) status.append(Object.assign(document.createElement('small'), { textContent: remark }));
}

export const client = createClient({
  url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  lazy: false,
  on: { connected: () => setStatus(true), closed: () => setStatus(false) },
});

/** Shows what crier says of an event after a reconnect. */
export function noteExtensions({ resumed, gap } = {}) {
  if (resumed === true) setStatus(true, 'resumed, nothing missed');
  else if (resumed === false || gap) setStatus(true, 'continued with the present positions');
}
