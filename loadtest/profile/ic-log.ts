/** A property access in the program's text, and the widest state of its inline cache. */
export interface AccessSite {
  /** The script's path or URL. */
  readonly script: string;
  /** The first line and column are 1. */
  readonly line: number;
  readonly column: number;
  readonly functionName: string;
  /** Where the function begins: `<line>:<column>`. */
  readonly functionPlace: string;
  /** V8's name: Load, Store, KeyedLoad, ... */
  readonly kind: string;
  /** The last name that missed the cache; with a keyed access, one of many. */
  readonly property: string;
  readonly state: CacheState;
  /** Number of different hidden classes that missed the cache here. Accesses of one name in one function may share a cache. */
  readonly maps: number;
}

export type CacheState = 'monomorphic' | 'polymorphic' | 'megamorphic';

/** The content of a log that V8 writes with `--log-ic`. */
export interface IcLog {
  readonly sites: readonly AccessSite[];
  /** Texts of the scripts, as V8 compiled them. */
  readonly sources: ReadonlyMap<string, string>;
}

/** V8's letters, from narrow to wide. Others mean that the site has no cache yet. */
const STATES: Readonly<Record<string, CacheState>> = {
  '1': 'monomorphic',
  P: 'polymorphic',
  N: 'megamorphic',
  G: 'megamorphic',
};
const WIDTHS: readonly CacheState[] = ['monomorphic', 'polymorphic', 'megamorphic'];
const PAGE_BITS = 2 ** 12;

/** Bytecode of a function in memory. */
interface Bytecode {
  readonly start: number;
  readonly end: number;
  readonly functionName: string;
  readonly functionPlace: string;
  readonly script: string;
}

interface Site extends AccessSite {
  property: string;
  state: CacheState;
  readonly seen: Set<string>;
}

/**
 * The lines that count (Node 20 and 24 write the same):
 *
 * - `script-source,<id>,<script>,<text>`
 * - `code-creation,JS,<kind>,<time>,<address>,<size>,<function> <script>:<line>:<column>,<id>,~`; `~` marks bytecode
 * - `code-move,<from>,<to>`
 * - `LoadIC,<address>,<time>,<line>,<column>,<old state>,<new state>,<map>,<property>,...`, at each miss of a cache
 *
 * A miss in optimised code is left out: its line may be that of an inlined function. Such a site is megamorphic already.
 */
export async function readIcLog(lines: AsyncIterable<string>): Promise<IcLog> {
  const bytecodes = new Bytecodes();
  const sites = new Map<string, Site>();
  const sources = new Map<string, string>();
  for await (const line of lines) {
    if (line.startsWith('code-creation,JS,')) bytecodes.create(line.split(','));
    else if (line.startsWith('code-move,')) bytecodes.move(line.split(','));
    else if (line.startsWith('script-source,')) readSource(line, sources);
    else if (/^[A-Za-z]+IC,/.test(line)) readMiss(line.split(','), bytecodes, sites);
  }
  return { sites: [...sites.values()].map(({ seen, ...site }) => ({ ...site, maps: seen.size })), sources };
}

function readSource(line: string, sources: Map<string, string>): void {
  const [, , script = '', text = ''] = line.split(',');
  sources.set(pathOf(unescape(script)), unescape(text));
}

function readMiss(fields: readonly string[], bytecodes: Bytecodes, sites: Map<string, Site>): void {
  const [type, address, , line, column, , letter, map, property] = fields as [string, ...string[]];
  const state = STATES[letter!];
  const code = state && bytecodes.at(Number(address));
  if (!code) return;
  const { script, functionName, functionPlace } = code;
  const kind = type.slice(0, -'IC'.length);
  const key = `${script}:${line}:${column}:${kind}`;
  let site = sites.get(key);
  if (!site) {
    const place = { script, line: Number(line), column: Number(column), functionName, functionPlace, kind };
    site = { ...place, property: '', state, maps: 0, seen: new Set() };
    sites.set(key, site);
  }
  site.property = unescape(property!);
  site.seen.add(map!);
  if (WIDTHS.indexOf(state) > WIDTHS.indexOf(site.state)) site.state = state;
}

/** Bytecode by address. A later function may take the address of one that was collected. */
class Bytecodes {
  readonly #byStart = new Map<number, Bytecode>();
  readonly #pages = new Map<number, Bytecode[]>();

  create(fields: readonly string[]): void {
    const [, , , , address, size, name = ''] = fields;
    // Optimised and baseline code; misses of the latter name the bytecode's address.
    if (fields.at(-1) !== '~') return;
    const found = /^(.*?) ?((?:file:|node:|\/|data:)[^ ]*):(\d+:\d+)$/.exec(unescape(name));
    if (!found) return;
    const [, functionName, script, functionPlace] = found as unknown as [string, string, string, string];
    this.#put({
      start: Number(address),
      end: Number(address) + Number(size),
      functionName,
      functionPlace,
      script: pathOf(script),
    });
  }

  move([, from, to]: readonly string[]): void {
    const code = this.#byStart.get(Number(from));
    if (!code) return;
    this.#byStart.delete(code.start);
    this.#put({ ...code, start: Number(to), end: Number(to) + code.end - code.start });
  }

  at(address: number): Bytecode | undefined {
    return this.#pages.get(pageOf(address))?.findLast(({ start, end }) => start <= address && address < end);
  }

  #put(code: Bytecode): void {
    this.#byStart.set(code.start, code);
    for (let page = pageOf(code.start); page <= pageOf(code.end); page++) {
      const codes = this.#pages.get(page);
      if (codes) codes.push(code);
      else this.#pages.set(page, [code]);
    }
  }
}

function pageOf(address: number): number {
  return Math.floor(address / PAGE_BITS);
}

/** V8 names ES modules by URL and CommonJS modules by path. */
function pathOf(script: string): string {
  return script.replace(/^file:\/\//, '');
}

/** Undoes V8's escapes of commas, line ends, backslashes and of characters that ASCII lacks. */
function unescape(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|(.))/g,
    (_, byte?: string, unit?: string, other?: string) =>
      (byte ?? unit) ? String.fromCharCode(parseInt((byte ?? unit)!, 16)) : other === 'n' ? '\n' : other!,
  );
}
