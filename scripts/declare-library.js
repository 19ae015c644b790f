import { join } from 'node:path';
import typescript from 'typescript';

/**
 * Step of packing: writes the types of crier's entry points, and of what they name, beside their modules. Plain JS, because it runs before
 * anything is compiled.
 */
const ENTRIES = ['crier', 'graph', 'testing'].map((name) => join('src', 'library', `${name}.ts`));

/** @param {string} folder where the build of src is */
export function declareLibrary(folder) {
  /** @param {string} path */
  const read = (path) => typescript.sys.readFile(path);
  const parsed = typescript.readConfigFile('tsconfig.json', read);
  const { options } = typescript.parseJsonConfigFileContent(parsed.config, typescript.sys, '.');
  const program = typescript.createProgram(ENTRIES, {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: 'src',
    outDir: folder,
  });
  const [mistake] = typescript.getPreEmitDiagnostics(program);
  if (mistake) throw new Error(typescript.flattenDiagnosticMessageText(mistake.messageText, '\n'));
  program.emit(undefined, (path, text) => {
    // TypeScript keeps the names of sources, of which the package has none.
    typescript.sys.writeFile(path, text.replace(/(?<=(?:from |import\()['"]\.[^'"]*)\.ts(?=['"])/g, '.js'));
  });
}
