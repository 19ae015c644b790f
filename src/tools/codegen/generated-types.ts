import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { candidatesOf } from '../../graph/loading/module-files.ts';
import { readSchemaFile } from '../../graph/loading/schema-file.ts';
import { loadGenerator } from './generator-packages.ts';
import { withForms } from './resolver-types.ts';
import { scalarTypes } from './scalar-types.ts';
import { readSourceTypes } from './source-types.ts';
import { typeName } from './type-name.ts';
import { readTypedSchema } from './typed-schema.ts';
import type { TypedSchema } from './typed-schema.ts';

/** The first line of every file that is written. */
export const MARK = '// Written by crier codegen from schema.graphql. Do not edit it: the next run replaces it.\n';

/**
 * The TypeScript types of a graph: payloads, arguments and resolvers.
 * @param out the file that they are for: imports are relative to it
 * @throws GraphError for mistakes of the folder and the schema; SetupError if GraphQL Code Generator is not installed
 */
export async function generateTypes(folder: string, out: string): Promise<string> {
  const schema = readTypedSchema(await readSchemaFile(folder));
  const sources = await sourcesOf(folder, out, schema);
  const { codegen, typescript, resolvers } = loadGenerator(folder);
  const output = await codegen({
    filename: out,
    schema: schema.document,
    documents: [],
    config: {
      contextType: 'GraphContext',
      rootValueType: 'unknown',
      useTypeImports: true,
      immutableTypes: true,
      enumsAsTypes: true,
      maybeValue: 'T | null | undefined',
      avoidOptionals: { defaultValue: true },
      namingConvention: { typeNames: typeName },
      optionalResolveType: true,
      onlyResolveTypeForInterfaces: true,
      showUnusedMappers: false,
      scalars: { ...scalarTypes(schema.scalars), ...sources.scalars },
      mappers: sources.mappers,
    },
    plugins: [{ typescript: {} }, { resolvers: {} }],
    pluginMap: { typescript, resolvers },
  });
  const types = withForms(output, schema).replace(/\n{3,}/g, '\n\n');
  const { imports, type } = contextType(folder, out);
  // The generator's own imports come first.
  const text = types.replace(/^(?!import )/m, () => `\n${type}\n`);
  return `${MARK}/* eslint-disable */\n${imports}${text.trimEnd()}\n`;
}

/** The types of `sources.ts`, as the generator's settings name them. */
async function sourcesOf(folder: string, out: string, { types, scalars }: TypedSchema) {
  const sources = await readSourceTypes(folder);
  if (!sources) return { mappers: {}, scalars: {} };
  const specifier = specifierOf(out, sources.file);
  const typed = (names: readonly string[]) =>
    names
      .filter((name) => sources.names.includes(name))
      .map((name) => [name, `${specifier}#${name} as ${name}Source`] as const);
  const objects = [...types].filter(([, { isRoot }]) => !isRoot).map(([name]) => name);
  return {
    mappers: Object.fromEntries(typed(objects)),
    scalars: Object.fromEntries(typed(scalars).map(([name, type]) => [name, { input: type, output: type }])),
  };
}

/** The type of the context: its loaders are those that the graph's context module creates, its backends those that it names. */
function contextType(folder: string, out: string): { imports: string; type: string } {
  const file = candidatesOf('context')
    .map((name) => join(folder, name))
    .find((path) => existsSync(path));
  const imports = `import type { Context } from 'crier/graph';\n`;
  const comment = '/** The third argument of resolvers. */\n';
  if (file === undefined) return { imports, type: `${comment}export type GraphContext = Context;\n` };
  const loaders =
    'typeof context extends { readonly createLoaders: (...args: never) => infer L extends object } ? L : object';
  // Without `as const` in a TypeScript module, a name is any text.
  const names = 'typeof context extends { readonly backends: readonly (infer N extends string)[] } ? N : never';
  // The compiler reads JavaScript with allowJs only.
  const isUnread = file.endsWith('js') ? '// @ts-ignore: without allowJs, loaders and backends are of any type\n' : '';
  return {
    imports: `${imports}${isUnread}import type * as context from '${specifierOf(out, file)}';\n`,
    type: `type Loaders = ${loaders};\n${comment}export type GraphContext = Context<Loaders, ${names}>;\n`,
  };
}

function specifierOf(out: string, file: string): string {
  const path = relative(dirname(out), file).split(sep).join('/');
  return path.startsWith('.') ? path : `./${path}`;
}
