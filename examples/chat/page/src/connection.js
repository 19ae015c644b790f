import { createClient } from '@crier/client';

const status = document.querySelector('#status');

/** False until the socket is open, and while it is lost. */
export let isLive = false;

function setLive(value) {
  isLive = value;
  status.className = value ? 'live' : 'lost';
  status.textContent = value ? 'Live' : 'Connecting …';
}

export const client = createClient({
  url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  lazy: false,
  on: { connected: () => setLive(true), closed: () => setLive(false) },
});

/**
 * Resolves with the data of a query or mutation. While the socket is lost it waits: what a user says then is sent later. If the socket is
 * lost before the answer, it is sent again.
 */
export function request(query, variables) {
  return new Promise((resolve, reject) => {
    client.subscribe(
      { query, variables },
      {
        next: ({ data, errors }) => (errors ? reject(new Error(errors[0].message)) : resolve(data)),
        error: (problem) => reject(Array.isArray(problem) ? new Error(problem[0].message) : problem),
        complete: () => {},
      },
    );
  });
}
