import type { Authenticated } from '../identity/authenticator.ts';

/** What a client learns when it is authenticated: the graph's payload, and when its token expires. */
export function authenticatedPayload({ ack, expiresAtMs }: Pick<Authenticated, 'ack' | 'expiresAtMs'>): object {
  if (expiresAtMs === undefined) return { ...ack };
  return { ...ack, expiresAt: expiresAtMs, expiresInMs: Math.max(0, expiresAtMs - Date.now()) };
}
