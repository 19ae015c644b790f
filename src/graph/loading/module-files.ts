import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import { GraphError } from '../../errors.ts';

/** Optional modules of a graph. */
const NAMES = ['resolvers', 'context', 'samples'] as const;

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
    const [file, ...others] = EXTENSIONS.map((extension) => name + extension).filter((one) => entries.has(one));
    if (file === undefined) continue;
    if (others.length > 0) throw new GraphError(`${[file, ...others].join(' and ')} both exist; keep one`);
    files.set(name, file);
  }
  return files;
}

/**
 * One line for each entry that is not loaded, but whose name resembles a module's: other letter case, singular or plural, or an
 * unsupported extension.
 *
 * @param loaded Names of the files that are loaded.
 */
export async function warningsOfFiles(folder: string, loaded: ReadonlySet<string>): Promise<string[]> {
  const warnings: string[] = [];
  for (const entry of (await readdir(folder)).sort()) {
    const { name: stem, ext: extension } = parse(entry);
    const name = NAMES.find((candidate) => canonical(candidate) === canonical(stem));
    if (name === undefined || loaded.has(entry) || !MISTAKEN_EXTENSIONS.includes(extension)) continue;
    // A folder next to the module of its name holds imports of that module.
    if (extension === '' && [...loaded].some((file) => parse(file).name === name)) continue;
    const names = EXTENSIONS.map((one) => name + one).join(', ');
    warnings.push(`${entry} is not loaded; crier loads ${name} from one of: ${names}`);
  }
  return warnings;
}

function canonical(stem: string): string {
  return stem
    .toLowerCase()
    .replace(/[^a-z.]/g, '')
    .replace(/s$/, '');
}
