import type { Claims, ConnectionRequest } from '../../../src/graph/context/connection-facts.ts';

/** Accepts the tenant and user that the client names, unless its token does. For benchmarks only. */
export function authenticate({ params, claims }: ConnectionRequest): Claims {
  return { tenant: params['tenant'] ?? 'nobody', user: params['user'] ?? 'nobody', ...claims };
}
