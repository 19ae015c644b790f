import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { ASYMMETRIC, HMAC, algorithmsOf } from './algorithms.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { nearValueFix } from './near-value.ts';
import { parseRequiredClaim } from './required-claims.ts';
import { variables } from './variables.ts';
import { refusal } from './setting-refusal.ts';
import type { Settings } from './settings.ts';
import { anyTokenKey, givenTokenKeys } from './token-keys.ts';
import { parseTokenLocations } from './token-locations.ts';

const NEEDS_KEY = ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_REQUIRE', 'JWT_ALGORITHMS', 'JWT_LOCATIONS'] as const;

/** A line for each setting of tokens that cannot be used, alone or with the others. */
export function identityProblems(settings: Settings): string[] {
  const keys = givenTokenKeys(settings).map((name) => settings.names[name]);
  if (keys.length > 1) return [`${keys.join(' and ')}: expected one of them, got ${keys.length}`];
  if (keys.length === 0) return withoutKey(settings);
  return [
    ...urlProblems(settings),
    ...keyProblems(settings),
    ...algorithmProblems(settings),
    ...locationProblems(settings),
    ...requirementProblems(settings),
  ];
}

function withoutKey(settings: Settings): string[] {
  const { AUTH: auth, names } = settings;
  const anyKey = anyTokenKey(names);
  const useless = NEEDS_KEY.filter((name) => settings[name].length > 0);
  return [
    ...useless.map((name) => `${names[name]}: expected with one of ${anyKey}, got none of them`),
    ...(auth === 'required' || auth === 'optional'
      ? [`${names.AUTH}=${auth}: expected one of ${anyKey}, got none`]
      : []),
  ];
}

function urlProblems({ JWT_JWKS_URL: urls, JWT_ISSUER: issuers, names }: Settings): string[] {
  const problems = urls
    .filter((url) => !isFetchable(url))
    .map((url) =>
      refusal(names.JWT_JWKS_URL, url, variables.JWT_JWKS_URL.expects, false, nearValueFix(url, isFetchable)),
    );
  // Otherwise one provider could sign tokens in the name of another.
  if (urls.length > 1 && issuers.length !== urls.length) {
    problems.push(
      `${names.JWT_ISSUER}: expected the issuer of each of the ${urls.length} ${names.JWT_JWKS_URL}, in their order, got ${issuers.length}`,
    );
  }
  if (urls.length > 1 && new Set(issuers).size < issuers.length) {
    problems.push(`${names.JWT_ISSUER}: expected each issuer once with several ${names.JWT_JWKS_URL}`);
  }
  return problems;
}

/** `fetch` refuses a URL with a user or a password. */
function isFetchable(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function keyProblems(settings: Settings): string[] {
  const { JWT_PUBLIC_KEY: key, names } = settings;
  if (key === '') return [];
  if (/PRIVATE KEY-----/.test(key))
    return [`${names.JWT_PUBLIC_KEY}: expected a public key, got a private one: keep it where tokens are signed`];
  try {
    return unfitKeyProblems(createPublicKey(pem(key)), settings);
  } catch {
    return [refusal(names.JWT_PUBLIC_KEY, key, variables.JWT_PUBLIC_KEY.expects, true)];
  }
}

/** Otherwise each token would be refused. */
function unfitKeyProblems(key: KeyObject, settings: Settings): string[] {
  const { names } = settings;
  const fitting = algorithmsOf(key);
  if (fitting.length === 0)
    return [
      `${names.JWT_PUBLIC_KEY}: expected RSA of 2048 bits or more, P-256, P-384, P-521 or Ed25519, got another key`,
    ];
  // `algorithmProblems` names those that are none.
  if (tokenAlgorithms(settings).some((name) => fitting.includes(name) || !ASYMMETRIC.includes(name))) return [];
  return [
    refusal(
      names.JWT_ALGORITHMS,
      settings.JWT_ALGORITHMS.join(),
      `${fitting.join(', ')} with this ${names.JWT_PUBLIC_KEY}`,
    ),
  ];
}

function algorithmProblems(settings: Settings): string[] {
  const { JWT_SECRET: secret, names } = settings;
  const allowed = secret === '' ? ASYMMETRIC : [...HMAC.keys()];
  const key = names[givenTokenKeys(settings)[0]!];
  const problems = settings.JWT_ALGORITHMS.filter((name) => !allowed.includes(name)).map((name) =>
    refusal(names.JWT_ALGORITHMS, name, `${allowed.join(', ')} with ${key}`, false, didYouMean(name, allowed)),
  );
  if (secret === '') return problems;
  const least = Math.max(...tokenAlgorithms(settings).map((name) => HMAC.get(name) ?? 0));
  const bytes = Buffer.byteLength(secret);
  if (bytes < least)
    problems.push(`${names.JWT_SECRET}: expected at least ${least} bytes (RFC 7518 section 3.2), got ${bytes}`);
  return problems;
}

function locationProblems({ JWT_LOCATIONS: entries, ALLOWED_ORIGINS: origins, names }: Settings): string[] {
  const locations = parseTokenLocations(entries);
  if (typeof locations === 'string') return [refusal(names.JWT_LOCATIONS, locations, variables.JWT_LOCATIONS.expects)];
  if (locations.cookie === '' || !origins.includes('*')) return [];
  return [
    `${names.JWT_LOCATIONS}: expected a cookie with the origins that may use it, got ${names.ALLOWED_ORIGINS}=*: any page could act for its visitors`,
  ];
}

function requirementProblems({ JWT_REQUIRE: entries, names }: Settings): string[] {
  const bad = entries.filter((entry) => !parseRequiredClaim(entry));
  return bad.map((entry) => refusal(names.JWT_REQUIRE, entry, variables.JWT_REQUIRE.expects));
}

/** The algorithms that are accepted. */
export function tokenAlgorithms({
  JWT_ALGORITHMS: given,
  JWT_SECRET: secret,
}: Pick<Settings, 'JWT_ALGORITHMS' | 'JWT_SECRET'>) {
  if (given.length > 0) return given;
  return secret === '' ? [...ASYMMETRIC] : ['HS256'];
}

/** A PEM as an environment may have it: with `\n` written out. */
export function pem(text: string): string {
  return text.replaceAll('\\n', '\n');
}
