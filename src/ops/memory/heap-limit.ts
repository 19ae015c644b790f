import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const MIB = 2 ** 20;
/** Semi-spaces that V8 reserves for the young generation. */
const SEMI_SPACES = 3;
const V8_VERSION = Number.parseInt(process.versions.v8, 10);
/** V8's default on 64 bits: 16 MiB in Node 20 and 22, 64 MiB in Node 24 (V8 13), 32 MiB in Node 26 (V8 14). */
const DEFAULT_SEMI_SPACE_BYTES = (V8_VERSION < 13 ? 16 : V8_VERSION < 14 ? 64 : 32) * MIB;

/**
 * Size in bytes of the old generation at which V8 ends the process. `heap_size_limit` also counts what V8 reserves for the young
 * generation: an old generation of 256 MiB with semi-spaces of 16 MiB is full at 84 % of it.
 *
 * @param flags of Node, from NODE_OPTIONS and the command line; V8 tells nobody how large the young generation may be
 */
export function heapLimit(flags: string): number {
  return getHeapStatistics().heap_size_limit - SEMI_SPACES * semiSpaceBytes(flags);
}

/** Bytes of the old generation, garbage included. */
export function heapUsed(): number {
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('new_'));
  return young.reduce((bytes, space) => bytes - space.space_used_size, getHeapStatistics().used_heap_size);
}

/** The last flag counts. V8 rounds its value up to a power of two. */
function semiSpaceBytes(flags: string): number {
  const [, megabytes] = [...flags.matchAll(/--max[-_]semi[-_]space[-_]size[= ](\d+)/g)].at(-1) ?? [];
  if (megabytes === undefined || megabytes === '0') return DEFAULT_SEMI_SPACE_BYTES;
  return 2 ** Math.ceil(Math.log2(Number(megabytes))) * MIB;
}
