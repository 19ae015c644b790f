import type { Claims, ConnectionRequest } from '../../../src/context/connection-facts.ts';

/** Whoever connects says who they are: this graph is for measuring. */
export function authenticate({ params }: ConnectionRequest): Claims {
  return { tenant: params['tenant'] ?? 'nobody', user: params['user'] ?? 'nobody' };
}
