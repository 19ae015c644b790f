import type { Config } from './config.ts';
import { parseRequiredClaim } from './required-claims.ts';
import type { SettingNames } from './setting-names.ts';
import { withoutQuery } from './setting-refusal.ts';
import { acceptsTokens } from './token-keys.ts';

/** The settings that say whose connections are accepted. */
export type IdentitySettings = Pick<
  Config,
  | 'AUTH'
  | 'JWT_JWKS_URL'
  | 'JWT_SECRET'
  | 'JWT_PUBLIC_KEY'
  | 'JWT_ISSUER'
  | 'JWT_AUDIENCE'
  | 'JWT_REQUIRE'
  | 'isProduction'
  | 'names'
>;

/** A line for each way in which these settings accept more clients than a team may expect. */
export function identityWarnings(settings: IdentitySettings, hasAuthenticate: boolean): string[] {
  const { AUTH: auth, JWT_ISSUER: issuers, JWT_AUDIENCE: audiences, JWT_JWKS_URL: urls, isProduction } = settings;
  const { names } = settings;
  if (!acceptsTokens(settings)) return isProduction && auth !== 'none' && !hasAuthenticate ? [nobody(names)] : [];
  return [
    ...(urls.length > 0 && issuers.length === 0 ? [noIssuer(names)] : []),
    ...(audiences.length === 0 && !settings.JWT_REQUIRE.some(tellsService) ? [noAudience(names)] : []),
    ...urls.filter((url) => new URL(url).protocol === 'http:').map((url) => withoutTls(url, names)),
  ];
}

/**
 * Claims that tell for which application, or for which use, a token is: `azp` (OpenID Connect), `client_id` and `scope` (RFC 9068), `appid` and
 * `scp` (Microsoft), `cid` (Okta), `token_use` (Cognito). Others, such as `email_verified`, tell who its user is.
 */
const SERVICE_CLAIMS: ReadonlySet<string> = new Set([
  'aud',
  'azp',
  'client_id',
  'appid',
  'cid',
  'scope',
  'scp',
  'token_use',
]);

function tellsService(entry: string): boolean {
  return SERVICE_CLAIMS.has(parseRequiredClaim(entry)?.name ?? '');
}

const nobody = (names: SettingNames): string =>
  `nobody is authenticated: whoever reaches this pod may use the whole graph; set ${names.JWT_JWKS_URL}, ${names.JWT_PUBLIC_KEY} or ${names.JWT_SECRET}, ` +
  `export authenticate from context.ts, or set ${names.AUTH}=none if that is meant`;
const noIssuer = (names: SettingNames): string =>
  `${names.JWT_ISSUER} is not set: tokens of every issuer whose keys are in ${names.JWT_JWKS_URL} are accepted, such as other tenants of the provider`;
const noAudience = (names: SettingNames): string =>
  `${names.JWT_AUDIENCE} is not set: tokens that their issuer made for other services are accepted, too; ` +
  `where they name their service in another claim, set ${names.JWT_REQUIRE}, such as client_id:app1`;

function withoutTls(url: string, names: SettingNames): string {
  return `${names.JWT_JWKS_URL}: ${withoutQuery(url)} has no TLS: whoever can change the keys on their way can sign tokens`;
}
