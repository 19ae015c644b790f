import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import { GraphError } from '../../base/errors.ts';

/** Optional modules of a graph. */
const NAMES = ['resolvers', 'context', 'samples', 'formats', 'envelopes'] as const;

const EXTENSIONS = ['.ts', '.js', '.mts', '.mjs'];
/** Extensions that a user could expect crier to load; '' is a folder. */
const MISTAKEN_EXTENSIONS = [...EXTENSIONS, '.cjs', '.cts', '.jsx', '.tsx', '.json', ''];

/**
 * The files of a graph's modules, by module name.
 * @throws GraphError naming all candidates if a module has several files.
 */
export async function findModuleFiles(folder: string): Promise<Map<string, string>> {
  const entries = new Set(await readdir(folder));
  const files = new Map<string, string>();
  for (const name of NAMES) {
    const [file, ...others] = candidatesOf(name).filter((one) => entries.has(one));
    if (file === undefined) continue;
    if (others.length > 0) throw new GraphError(`${[file, ...others].join(' and ')} both exist; keep one`);
    files.set(name, file);
  }
  return files;
}

/**
 * One line for each entry that is not loaded, but whose name resembles a module's or that of the schema: other letter case, singular or
 * plural, more words (`auction.resolvers.ts`, `index.ts`), or an unsupported extension.
 *
 * @param loaded Names of the files that are loaded.
 */
export async function warningsOfFiles(folder: string, loaded: ReadonlySet<string>): Promise<string[]> {
  const warnings: string[] = [];
  for (const entry of (await readdir(folder)).sort()) {
    const { name: stem, ext: extension } = parse(entry);
    if (loaded.has(entry) || !MISTAKEN_EXTENSIONS.includes(extension) || NO_MODULE.test(stem)) continue;
    const name = NAMES.find((candidate) => wordsOf(stem).includes(canonical(candidate)));
    // A folder next to the module of its name holds imports of that module.
    if (extension === '' && [...loaded].some((file) => parse(file).name === name)) continue;
    if (name !== undefined) warnings.push(`${entry} is not loaded; ${fixOf(name, extension, loaded)}`);
    else if (stem === 'index' && EXTENSIONS.includes(extension))
      warnings.push(`${entry} is not loaded; crier loads ${NAMES.join(', ')}: move what it exports to resolvers.ts`);
  }
  const schemas = await unreadSchemaFiles(folder);
  return [
    ...warnings,
    ...schemas.map((entry) => `${entry} is not loaded; crier reads schema.graphql alone: move its definitions there`),
  ];
}

function fixOf(name: (typeof NAMES)[number], extension: string, loaded: ReadonlySet<string>): string {
  const file = [...loaded].find((one) => parse(one).name === name);
  if (file !== undefined) return `crier loads ${name} from ${file} alone: move what it exports there`;
  const wanted = name + (EXTENSIONS.includes(extension) ? extension : '.ts');
  const others = candidatesOf(name).filter((one) => one !== wanted);
  if (extension === '') return `crier loads no folder: write ${wanted}, which may import its files`;
  if (extension === '.json') return `crier loads no JSON: write ${wanted}, which may import it with { type: 'json' }`;
  return `rename it to ${wanted}, or to one of: ${others.join(', ')}`;
}

/** Entries that may be meant as the schema, the most likely first. */
export async function unreadSchemaFiles(folder: string): Promise<string[]> {
  const entries = (await readdir(folder)).sort().filter((entry) => entry !== 'schema.graphql');
  return entries.filter((entry) => isSdlFile(entry) && wordsOf(parse(entry).name).includes('schema'));
}

/** True if a file has the name of one with GraphQL. */
export function isSdlFile(entry: string): boolean {
  return /\.(?:graphqls?|gql|sdl)$/i.test(entry);
}

/** Tests, configuration of tools and declarations beside the modules. */
const NO_MODULE = /\.(test|spec|config|d|stories)$/;

/** Names that the file of a graph's module may have. */
export function candidatesOf(name: (typeof NAMES)[number]): string[] {
  return EXTENSIONS.map((extension) => name + extension);
}

/** What a name says, in canonical form: its parts between dots, and its last word. `auction-Resolvers.old` has `resolver` and `old`. */
function wordsOf(stem: string): string[] {
  const parts = stem.split('.');
  return [...parts, ...parts.map((part) => part.split(/[^A-Za-z]+/).at(-1) ?? '')].map(canonical);
}

function canonical(word: string): string {
  return word.toLowerCase().replace(/s$/, '');
}
