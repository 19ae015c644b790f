import { Authenticator } from '../gateway/identity/authenticator.ts';
import { authenticationFailures, keyFetches } from '../gateway/identity/identity-metrics.ts';
import type { Revocations } from '../gateway/identity/revocations.ts';
import { identityWarnings } from '../config/identity-warnings.ts';
import { acceptsTokens } from '../config/token-keys.ts';
import type { TokenLocations } from '../config/token-locations.ts';
import type { GatewayServices } from './services.ts';

/** Who connections and requests belong to. Resolves when the keys of tokens were fetched, or could not be. */
export async function createAuthenticator(
  services: GatewayServices,
  revocations: Revocations,
  { cookie }: TokenLocations,
): Promise<Authenticator> {
  const { config, log, metrics, graph } = services;
  for (const warning of identityWarnings(config, graph.current.context.authenticate !== undefined)) log.warn(warning);
  const fetches = keyFetches(metrics);
  const tokens = acceptsTokens(config)
    ? await (await import('./tokens.ts')).openTokens(services, fetches, cookie)
    : undefined;
  const failures = authenticationFailures(metrics);
  const authenticator = new Authenticator({
    authenticate: (request) => graph.current.context.authenticate?.(request),
    tokens,
    revocations,
    timeoutMs: config.AUTHENTICATION_TIMEOUT_MS,
    log,
    onFailure: (reason) => failures.inc({ reason }),
  });
  graph.onServe(() => authenticator.onGraphReplaced());
  return authenticator;
}
