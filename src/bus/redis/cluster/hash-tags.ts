const SLOTS = 16_384;
/**
 * Every pod must use the same number. More tags spread channels more evenly over many shards; each costs a script for a chunk of records
 * that reaches it, and one for each lease.
 */
const TAGS = 64;

export interface HashTag {
  /** With its braces. */
  readonly name: string;
  readonly slot: number;
}

/** The hash tags of crier in a Redis Cluster. Their slots are evenly spread, so that every shard has about as many of them as another. */
export const HASH_TAGS: readonly HashTag[] = spreadTags();

/** Index in `HASH_TAGS` of the tag that a channel or a key has. */
export function tagIndexOf(name: string): number {
  return mix(fnv1a(name)) % TAGS;
}

/** The tag of a name that begins with it. */
export function tagNameOf(name: string): string {
  return name.slice(0, name.indexOf('}') + 1);
}

/** One tag for each equal range of slots. */
function spreadTags(): HashTag[] {
  const tags = new Array<HashTag>(TAGS);
  for (let found = 0, text = 0; found < TAGS; text++) {
    const name = `{${text}}`;
    const slot = crc16(`${text}`) % SLOTS;
    const range = Math.floor((slot * TAGS) / SLOTS);
    if (tags[range]) continue;
    tags[range] = { name, slot };
    found++;
  }
  return tags;
}

/** CRC-16/XMODEM of an ASCII text (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#appendix-a-crc16-reference-implementation-in-ansi-c). */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text, 'latin1')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return crc & 0xffff;
}

/** FNV-1a over UTF-16 code units, 32 bits, unsigned. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** The finaliser of MurmurHash3 (32 bits): every bit of the input changes about half of the output. */
function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
