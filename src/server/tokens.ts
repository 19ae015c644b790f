import { createPublicKey, createSecretKey } from 'node:crypto';
import { RemoteKeySet } from '../gateway/identity/remote-key-set.ts';
import { TokenVerifier } from '../gateway/identity/token-verifier.ts';
import type { TokenIssuer } from '../gateway/identity/token-verifier.ts';
import { LogWindow } from '../base/log.ts';
import { pem, tokenAlgorithms } from '../config/identity-problems.ts';
import { parseRequiredClaim } from '../config/required-claims.ts';
import { withoutQuery } from '../config/setting-refusal.ts';
import type { Increments } from '../ops/metrics/metrics-registry.ts';
import type { GatewayServices } from './services.ts';

const LOG_WINDOW_MS = 60_000;
/** Forwarded headers that may have the text of a token. */
const TOKEN_HEADERS = ['authorization', 'cookie'];

/**
 * What verifies the tokens of clients. Resolves when their keys were fetched, or could not be.
 * @param cookie that may hold a token; '': none
 */
export async function openTokens(services: GatewayServices, fetches: Increments<'outcome'>, cookie: string) {
  const { config } = services;
  const verifier = new TokenVerifier({
    issuers: await openIssuers(services, fetches),
    audiences: config.JWT_AUDIENCE,
    requiredClaims: config.JWT_REQUIRE.map((entry) => parseRequiredClaim(entry)!),
    algorithms: tokenAlgorithms(config),
    clockToleranceMs: config.JWT_CLOCK_TOLERANCE_MS,
  });
  const isForwarded = [...config.backends.values()].some(({ forwardedHeaders }) =>
    forwardedHeaders.some((name) => TOKEN_HEADERS.includes(name)),
  );
  return { verifier, isRequired: config.AUTH !== 'optional', cookie, isForwarded };
}

async function openIssuers(services: GatewayServices, fetches: Increments<'outcome'>): Promise<TokenIssuer[]> {
  const { JWT_JWKS_URL: urls, JWT_SECRET: secret, JWT_PUBLIC_KEY: publicKey, JWT_ISSUER: names } = services.config;
  if (secret !== '') return [{ names, key: createSecretKey(Buffer.from(secret)) }];
  if (publicKey !== '') return [{ names, key: createPublicKey(pem(publicKey)) }];
  const sets = urls.map((url) => openKeySet(url, services, fetches));
  await Promise.all(sets.map((set) => set.start()));
  return sets.map((set, i) => ({ names: sets.length > 1 ? [names[i]!] : names, key: set.keyOf }));
}

function openKeySet(
  url: string,
  { log, register, unreadyWhile }: GatewayServices,
  fetches: Increments<'outcome'>,
): RemoteKeySet {
  const failures = new LogWindow(LOG_WINDOW_MS);
  const set = new RemoteKeySet({
    url,
    onFetch: () => fetches.inc({ outcome: 'ok' }),
    onFailure: (error) => {
      fetches.inc({ outcome: 'failed' });
      const facts = { err: error, url: withoutQuery(url) };
      failures.run(url, (suppressed) => log.warn({ ...facts, suppressed }, 'a key set could not be fetched'));
    },
  });
  // A pod that has never had keys refuses everybody. Later all pods have the same trouble, and keep their keys meanwhile.
  unreadyWhile('token_keys', () => !set.hasKeys);
  return register(set);
}
