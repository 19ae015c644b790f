import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** An import that crier follows: of a file, not of a package. */
export const RELATIVE = /^\.\.?\//;

const PLAIN_FILE = /\.m?js$/;
/** A byte order mark, which Babel removes, Proxy.lazy, which it compiles, and source maps, which it composes into its own. */
const COMPILED_TEXT = /^\uFEFF|\blazy\b|sourceMappingURL/;

/** ImportType.Static and ImportType.ImportMeta of es-module-lexer, whose enum has no values at run time. */
const STATIC = 1;
const IMPORT_META = 3;

/**
 * The texts of `entries` and, recursively, of their relative imports, by absolute file name, if they run as they are written. A text may still
 * have syntax errors: Node finds them before it runs any of the modules that an entry imports, but may have run those of an entry before.
 *
 * @returns undefined if Babel is needed: a module is TypeScript, has Proxy.lazy or a source map, or imports with attributes, dynamically, or
 * another kind of file than JavaScript; or an import leads nowhere
 */
export async function readPlainModules(entries: readonly string[]): Promise<Record<string, string> | undefined> {
  if (!entries.every((entry) => PLAIN_FILE.test(entry))) return undefined;
  const sources: Record<string, string> = {};
  const files = new Set(entries.map((entry) => realpathSync(entry)));
  for (const file of files) {
    if (!PLAIN_FILE.test(file)) return undefined;
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const imports = text === undefined || COMPILED_TEXT.test(text) ? undefined : await staticImports(text);
    if (text === undefined || !imports) return undefined;
    sources[file] = text;
    for (const specifier of imports) {
      if (!RELATIVE.test(specifier)) continue;
      const found = importedFile(file, specifier);
      if (found === undefined) return undefined;
      files.add(found);
    }
  }
  return sources;
}

/** Specifiers of the static imports and re-exports; undefined if there are others, or the text has a syntax error that the lexer finds. */
async function staticImports(text: string): Promise<string[] | undefined> {
  const { init, parse } = await import('es-module-lexer');
  await init;
  try {
    const imports = parse(text)[0].filter(({ t }) => Number(t) !== IMPORT_META);
    if (!imports.every(({ t, a }) => Number(t) === STATIC && a === -1)) return undefined;
    return imports.map(({ n }) => n ?? '');
  } catch {
    return undefined;
  }
}

/** The file of a relative import: the named one, or the `.ts` (`.mts`) file of a `.js` (`.mjs`) name; undefined if neither exists. */
export function importedFile(importer: string, specifier: string): string | undefined {
  const path = join(dirname(importer), specifier);
  return [path, path.replace(/\.(m?)js$/, '.$1ts')]
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file))[0];
}
