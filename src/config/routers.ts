import { isAddressRange, overlaps } from './addresses/address-ranges.ts';
import { parseRequiredClaim } from './required-claims.ts';
import type { RequiredClaim } from './required-claims.ts';
import { refusal } from './setting-refusal.ts';
import type { Settings } from './settings.ts';
import { acceptsTokens, anyTokenKey } from './token-keys.ts';
import { variables } from './variables.ts';

/** Who is a router: a client at one of these addresses, or with one of these claims in its token. */
export interface RouterSettings {
  /** Texts for which `isAddressRange` is true. */
  readonly networks: readonly string[];
  readonly claims: readonly RequiredClaim[];
}

/** Reads ROUTERS, of which `routerProblems` has refused what is neither. An IPv6 range has colons, too, so ranges come first. */
export function routerSettings(entries: readonly string[]): RouterSettings {
  const claims = entries.filter((entry) => !isAddressRange(entry)).map((entry) => parseRequiredClaim(entry)!);
  return { networks: entries.filter(isAddressRange), claims };
}

/** A line for each entry of ROUTERS that cannot be used. */
export function routerProblems(settings: Settings): string[] {
  const { ROUTERS: entries, TRUSTED_PROXIES: proxies, names } = settings;
  const networks = entries.filter(isAddressRange);
  const others = entries.filter((entry) => !isAddressRange(entry));
  const bad = others.filter((entry) => !parseRequiredClaim(entry));
  // Somebody in both could name itself a router in X-Forwarded-For, and a client whose proxy names no address would be one.
  const shared = networks.filter((network) => proxies.filter(isAddressRange).some((proxy) => overlaps(network, proxy)));
  return [
    ...bad.map((entry) => refusal(names.ROUTERS, entry, variables.ROUTERS.expects)),
    ...(others.length > bad.length && !acceptsTokens(settings)
      ? [`${names.ROUTERS}: a claim is expected with one of ${anyTokenKey(names)}, got none of them`]
      : []),
    ...shared.map(
      (network) =>
        `${names.ROUTERS}: expected addresses that ${names.TRUSTED_PROXIES} does not have, got ${JSON.stringify(network)}: a proxy's clients would be routers`,
    ),
  ];
}
