import { isIP } from 'node:net';

/** Groups of an IPv6 address that name its network; a user or a machine has all addresses of one. */
const NETWORK_GROUPS = 4;

/** An address without its zone, and as IPv4 if it is one that is mapped to IPv6 (RFC 4291 section 2.5.5.2). Any other text is returned as it is. */
export function plainAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const [withoutZone] = address.split('%', 1) as [string];
  const groups = groupsOf(withoutZone);
  if (groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xffff) return withoutZone;
  const [high, low] = groups.slice(6) as [number, number];
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** What limits count as one address: an IPv4 address, or the /64 of an IPv6 address. */
export function addressKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const network = groupsOf(address).slice(0, NETWORK_GROUPS);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/** The address of an entry of X-Forwarded-For, which may have a port and brackets; undefined: it has none. */
export function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const [, ipv6, ipv4] = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? text;
  return isIP(address) === 0 ? undefined : plainAddress(address);
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [before, after] = address.split('%', 1)[0]!.split('::') as [string, string?];
  const left = numbersOf(before);
  const right = numbersOf(after ?? '');
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function numbersOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number) as [number, number, number, number];
    return [(a << 8) | b, (c << 8) | d];
  });
}
