import type { Config } from './config.ts';
import { acceptsTokens } from './token-keys.ts';

/** The settings that say whose connections are accepted. */
export type IdentitySettings = Pick<
  Config,
  'AUTH' | 'JWT_JWKS_URL' | 'JWT_SECRET' | 'JWT_PUBLIC_KEY' | 'JWT_ISSUER' | 'JWT_AUDIENCE' | 'isProduction'
>;

/** A line for each way in which these settings accept more clients than a team may expect. */
export function identityWarnings(settings: IdentitySettings, hasAuthenticate: boolean): string[] {
  const { AUTH: auth, JWT_ISSUER: issuers, JWT_AUDIENCE: audiences, JWT_JWKS_URL: urls, isProduction } = settings;
  if (!acceptsTokens(settings)) return isProduction && auth !== 'none' && !hasAuthenticate ? [NOBODY] : [];
  return [
    ...(urls.length > 0 && issuers.length === 0 ? [NO_ISSUER] : []),
    ...(audiences.length === 0 ? [NO_AUDIENCE] : []),
    ...urls.filter((url) => new URL(url).protocol === 'http:').map(withoutTls),
  ];
}

const NOBODY =
  'nobody is authenticated: whoever reaches this pod may use the whole graph; set JWT_JWKS_URL, JWT_PUBLIC_KEY or JWT_SECRET, ' +
  'export authenticate from context.ts, or set AUTH=none if that is meant';
const NO_ISSUER =
  'JWT_ISSUER is not set: tokens of every issuer whose keys are in JWT_JWKS_URL are accepted, such as other tenants of the provider';
const NO_AUDIENCE = 'JWT_AUDIENCE is not set: tokens that their issuer made for other services are accepted, too';

function withoutTls(url: string): string {
  return `JWT_JWKS_URL: ${url} has no TLS: whoever can change the keys on their way can sign tokens`;
}
