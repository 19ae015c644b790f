import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseAsync } from '@babel/core';
import { GraphError } from '../../base/errors.ts';

/** Types of a graph's author, for what resolvers receive and return in place of the schema's types. */
export interface SourceTypes {
  readonly file: string;
  /** Exported names. Those of types of the schema are used. */
  readonly names: readonly string[];
}

const FILES = ['sources.ts', 'sources.mts'];

/**
 * Reads the names that `sources.ts` of a graph's folder exports; undefined without that file.
 * @throws GraphError naming the line of a syntax error
 */
export async function readSourceTypes(folder: string): Promise<SourceTypes | undefined> {
  const file = FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8');
  const names = (await programOf(basename(file), text)).flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { declaration, specifiers } = statement;
    const declared =
      declaration?.type === 'TSInterfaceDeclaration' ||
      declaration?.type === 'TSTypeAliasDeclaration' ||
      declaration?.type === 'ClassDeclaration'
        ? declaration.id?.name
        : undefined;
    const exported = specifiers.map((one) =>
      one.exported.type === 'Identifier' ? one.exported.name : one.exported.value,
    );
    return [...(declared === undefined ? [] : [declared]), ...exported];
  });
  return { file, names };
}

async function programOf(name: string, text: string) {
  try {
    const options = {
      presets: ['@babel/preset-typescript'],
      configFile: false,
      babelrc: false,
      cwd: import.meta.dirname,
    };
    const parsed = await parseAsync(text, { ...options, filename: name, highlightCode: false });
    return parsed!.program.body;
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number } };
    const [reason = ''] = message.replace(/^.*?: /, '').split('\n');
    throw new GraphError(`${name}:${loc?.line ?? 1}: ${reason}`, { cause: error });
  }
}
