import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import { GraphError } from '../../errors.ts';

/** The modules that a graph may have beside its schema. */
const NAMES = ['resolvers', 'context', 'samples'] as const;

const EXTENSIONS = ['.ts', '.js', '.mts', '.mjs'];
/** Extensions of files that a person may take for a module; `''` is a folder. */
const MISTAKEN_EXTENSIONS = [...EXTENSIONS, '.cjs', '.cts', '.jsx', '.tsx', '.json', ''];

/**
 * The file of each module that a graph's folder has, by the module's name.
 * @throws GraphError naming all candidates where a module has several.
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
 * One line for each entry of a graph's folder that is not loaded and whose name is nearly that of a module: another case, a
 * singular or plural, an extension that is not loaded.
 *
 * @param loaded Names of the files that are loaded.
 */
export async function warningsOfFiles(folder: string, loaded: ReadonlySet<string>): Promise<string[]> {
  const warnings: string[] = [];
  for (const entry of (await readdir(folder)).sort()) {
    const { name: stem, ext: extension } = parse(entry);
    const name = NAMES.find((candidate) => canonical(candidate) === canonical(stem));
    if (name === undefined || loaded.has(entry) || !MISTAKEN_EXTENSIONS.includes(extension)) continue;
    // A folder beside the module of its name holds what that module imports.
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
