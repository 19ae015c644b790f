/**
 * Which server owns a channel: rendezvous (highest random weight) hashing. Every pod agrees whatever the order of its
 * list, and a server that is added or removed moves only the channels that it gains or held.
 */

/** FNV-1a over UTF-16 code units, 32 bits, unsigned. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Index of the owner among `servers`, each given as `fnv1a` of its name. `mix` is one-to-one, so there are no ties. */
export function ownerOf(channel: string, servers: readonly number[]): number {
  const hash = fnv1a(channel);
  let owner = 0;
  let highest = -1;
  for (let i = 0; i < servers.length; i++) {
    const weight = mix(hash ^ servers[i]!);
    if (weight > highest) {
      highest = weight;
      owner = i;
    }
  }
  return owner;
}

/** The finaliser of MurmurHash3 (32 bits): one-to-one, and every bit of the input changes about half of the output. */
function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
