import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** One flag of a command: what `--help` says of it, and how its text becomes a value. */
export interface Flag<Value> {
  /** Such as `<number>`; '' for a switch, which takes no text. */
  readonly shape: string;
  readonly help: string;
  /** The text without the flag; undefined: the value then is undefined. */
  readonly fallback?: string | undefined;
  /** @throws Error that begins with `--<name>: ` */
  parse(text: string, name: string): Value;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type Values<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer Value> ? Value : never };

/** Parses a flag's whole number from `least`. @throws Error naming the flag. */
export function numberFlag(flag: string, text: string, least = 1, most = Infinity): number {
  if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new Error(
    `--${flag}: expected a whole number from ${least}${most < Infinity ? ` to ${most}` : ''}, got "${text}"`,
  );
}

export function whole(help: string, fallback: number, least = 1, most = Infinity): Flag<number> {
  const parse = (text: string, name: string) => numberFlag(name, text, least, most);
  return { shape: '<number>', help, fallback: String(fallback), parse };
}

/** Whole numbers, separated by commas. */
export function wholes(help: string, fallback: string, least = 0): Flag<number[]> {
  const parse = (text: string, name: string) => text.split(',').map((one) => numberFlag(name, one, least));
  return { shape: '<numbers>', help, fallback, parse };
}

export function decimal(help: string, fallback: number): Flag<number> {
  const parse = (text: string, name: string) => {
    if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
    throw new Error(`--${name}: expected a number from 0, got "${text}"`);
  };
  return { shape: '<number>', help, fallback: String(fallback), parse };
}

export function text(help: string, fallback: string): Flag<string> {
  return { shape: '<text>', help, fallback, parse: (given) => given };
}

/** One of these names. */
export function choice<Name extends string>(help: string, names: readonly Name[], fallback?: Name): Flag<Name> {
  return {
    shape: '<name>',
    help: `${help}: ${names.join(', ')}`,
    fallback,
    parse: (given, flag) => nameOf(given, names, flag),
  };
}

/** Some of these names, separated by commas. */
export function choices<Name extends string>(
  help: string,
  names: readonly Name[],
  fallback: readonly Name[] = names,
): Flag<Name[]> {
  return {
    shape: '<names>',
    help: `${help}: ${names.join(', ')}`,
    fallback: fallback.join(','),
    parse: (given, flag) => given.split(',').map((name) => nameOf(name, names, flag)),
  };
}

/** A switch, which is off by default. */
export function on(help: string): Flag<boolean> {
  return { shape: '', help, fallback: '', parse: (given) => given !== '' };
}

/** The same flag without a default. */
export function optional<Value>(flag: Flag<Value>): Flag<Value | undefined> {
  return { ...flag, fallback: undefined };
}

/** `dist/src/main.js` of another checkout; undefined without the flag. */
export function base(help: string): Flag<string | undefined> {
  return optional({ shape: '<folder>', help: `another checkout of crier, built: ${help}`, parse: mainOf });
}

function mainOf(folder: string, flag: string): string {
  const script = resolve(folder, 'dist/src/main.js');
  if (existsSync(script)) return script;
  throw new Error(`--${flag}: ${script} is missing; run npm ci && npm run build there`);
}

function nameOf<Name extends string>(given: string, names: readonly Name[], flag: string): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw new Error(`--${flag}: expected ${names.join(', ')}, got "${given}"`);
}

export interface ParsedFlags<F extends Flags> {
  readonly values: Values<F>;
  /** The command line that gives these values, with the names of folders alone. */
  readonly text: string;
}

/** Parses a command line. Returns undefined for `--help`. @throws Error naming a flag */
export function parseFlags<F extends Flags>(flags: F, words: readonly string[]): ParsedFlags<F> | undefined {
  // parseArgs would reject a flag without a value beside it.
  if (words.some((word) => word === '--help' || word === '-h')) return undefined;
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { shape }]) => [name, { type: shape === '' ? 'boolean' : 'string' } as const]),
  );
  const { values } = parseArgs({ args: [...words], options });
  const given = Object.entries(flags).map(([name, flag]) => {
    const word = values[name] ?? flag.fallback;
    return { name, flag, word: typeof word === 'boolean' ? 'on' : word };
  });
  return {
    values: Object.fromEntries(
      given.map(({ name, flag, word }) => [name, word === undefined ? undefined : flag.parse(word, name)]),
    ) as Values<F>,
    text: given
      .filter(({ word }) => word !== undefined && word !== '')
      .map(({ name, flag, word }) => `--${name} ${flag.shape === '<folder>' ? word!.split('/').at(-1) : word}`)
      .join(' '),
  };
}

/** A line for each flag. */
export function helpOf(flags: Flags): string {
  const heads = Object.entries(flags).map(([name, { shape }]) => `--${name} ${shape}`.trim());
  const width = Math.max(...heads.map((head) => head.length));
  return Object.values(flags)
    .map(
      ({ help, fallback }, i) => `  ${heads[i]!.padEnd(width)}  ${help}${fallback ? `; default: ${fallback}` : ''}\n`,
    )
    .join('');
}
