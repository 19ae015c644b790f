import { SetupError } from '../../base/errors.ts';
import { projectPackage, requireFile } from '../../base/project-packages.ts';

/** The packages of GraphQL Code Generator, each with the version that crier is tested with. */
export const GENERATOR_PACKAGES = {
  '@graphql-codegen/core': '6.2.1',
  '@graphql-codegen/typescript': '6.1.0',
  '@graphql-codegen/typescript-resolvers': '6.1.0',
} as const;

type PackageName = keyof typeof GENERATOR_PACKAGES;

/** What `codegen` of `@graphql-codegen/core` takes, as far as crier gives it. */
interface CodegenOptions {
  readonly filename: string;
  /** A document of graphql-js. */
  readonly schema: object;
  readonly documents: readonly [];
  readonly config: Readonly<Record<string, unknown>>;
  readonly plugins: readonly Readonly<Record<string, object>>[];
  readonly pluginMap: Readonly<Record<string, unknown>>;
}

export interface GeneratorPackages {
  readonly codegen: (options: CodegenOptions) => Promise<string>;
  readonly typescript: unknown;
  readonly resolvers: unknown;
}

/** The command that installs what `crier codegen` needs. */
export const INSTALL_COMMAND = installCommand(' ');

/** The same for a help text, whose lines fit a terminal. */
export const INSTALL_LINES = `  ${installCommand(' \\\n    ')}`;

function installCommand(separator: string): string {
  const packages = Object.entries(GENERATOR_PACKAGES).map(([name, version]) => `${name}@${version}`);
  return ['npm install --save-dev', ...packages].join(separator);
}

/**
 * Loads GraphQL Code Generator from the project that has the graph, else from the working directory. It is no dependency of crier, whose
 * servers do not need its 47 packages.
 * @throws SetupError with the command that installs it
 */
export function loadGenerator(folder: string): GeneratorPackages {
  const { codegen } = load('@graphql-codegen/core', folder) as { codegen: GeneratorPackages['codegen'] };
  return {
    codegen,
    typescript: load('@graphql-codegen/typescript', folder),
    resolvers: load('@graphql-codegen/typescript-resolvers', folder),
  };
}

function load(name: PackageName, folder: string): unknown {
  const file = projectPackage(name, folder);
  if (file === undefined)
    throw new SetupError(`crier codegen needs ${name}, which is not installed in your project: ${INSTALL_COMMAND}`);
  try {
    return requireFile(file);
  } catch (error) {
    throw new SetupError(
      `${name} cannot be loaded: ${(error as Error).message}; install it again: ${INSTALL_COMMAND}`,
      {
        cause: error,
      },
    );
  }
}
