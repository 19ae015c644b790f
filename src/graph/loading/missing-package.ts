import { isBuiltin } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The message of Node's ERR_MODULE_NOT_FOUND for a bare specifier. */
const NOT_FOUND = /^Cannot find package '([^']+)' imported from (\S.*)$/m;

/** https://docs.npmjs.com/cli/configuring-npm/package-json#name */
const PACKAGE_NAME = /^(@[a-z\d][\w.~-]*\/)?[a-z\d][\w.~-]*$/i;

/** Names the package that a module of the graph imports, and that is not installed; undefined for every other error. */
export function missingPackageProblem(folder: string, error: unknown): string | undefined {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const [, name, importer] = NOT_FOUND.exec(error.message) ?? [];
  if (name === undefined || importer === undefined) return undefined;
  const file = importer.startsWith('file:') ? fileURLToPath(importer) : importer;
  const location = relative(folder, file);
  // A package that another package lacks: the same fix helps.
  const from = location.startsWith('..') ? file : location;
  if (!PACKAGE_NAME.test(name)) {
    return `${from}: imports "${name}", which is no package; write a relative path, such as ./util.ts: paths of tsconfig.json are not read`;
  }
  if (isBuiltin(name))
    return `${from}: imports "${name}/…", which Node's module ${name} does not have; correct the import`;
  return `${from}: imports the package "${name}", which is not installed; run npm install ${name} in ${folder}, or correct the import`;
}
