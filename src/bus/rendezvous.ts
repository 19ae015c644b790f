/**
 * Maps a channel to a server by rendezvous (highest random weight) hashing. All pods agree, whatever the order of their lists. Adding or
 * removing a server moves only the channels of that server.
 */

/** FNV-1a over UTF-16 code units, 32 bits, unsigned. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Index of the channel's server in `servers`, which holds `fnv1a` of each server's name. `mix` is one-to-one, so there are no ties. */
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
