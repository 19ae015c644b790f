import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { transformFileAsync, traverse } from '@babel/core';
import { didYouMean } from '../../base/did-you-mean.ts';
import { RELATIVE, importedFile } from './plain-modules.ts';

/** Output of this process, as JSON. */
export interface CompileReport {
  /** Code with an inline source map, by absolute file name. */
  readonly sources: Record<string, string>;
  /** SHA-256 of the files that they import and that are not compiled, such as JSON, by absolute file name. */
  readonly others: Record<string, string>;
  readonly problems: { file: string; line: number; message: string }[];
}

interface Import {
  readonly specifier: string;
  readonly line: number;
}

/** `node compile-process.js <package root> <entry>…`: compiles the entries and, recursively, their relative imports. */
async function compileAll(packageRoot: string, entries: readonly string[]): Promise<CompileReport> {
  const report: CompileReport = { sources: {}, others: {}, problems: [] };
  const queue = entries.map((entry) => realpathSync(entry));
  const seen = new Set(queue);
  for (const file of queue) {
    const compiled = await compileFile(packageRoot, file, report);
    if (!compiled) continue;
    report.sources[file] = compiled.code;
    for (const { specifier, line } of compiled.imports) {
      const found = importedFile(file, specifier);
      if (!found) {
        const message = `imports "${specifier}", which does not exist${importFix(file, specifier)}`;
        report.problems.push({ file, line, message });
      } else if (!/\.m?[jt]s$/.test(found)) {
        report.others[found] = createHash('sha256').update(readFileSync(found)).digest('hex');
      } else if (!seen.has(found)) {
        seen.add(found);
        queue.push(found);
      }
    }
  }
  return report;
}

function importFix(importer: string, specifier: string): string {
  if (extname(specifier) === '') return "; write the file's name with its extension";
  const path = join(dirname(importer), specifier);
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
  return didYouMean(basename(path), names) || '; correct the path, or add the file';
}

async function compileFile(
  packageRoot: string,
  file: string,
  report: CompileReport,
): Promise<{ code: string; imports: Import[] } | undefined> {
  try {
    const result = await transformFileAsync(file, {
      root: packageRoot,
      cwd: packageRoot,
      configFile: join(packageRoot, 'babel.config.js'),
      babelrc: false,
      caller: {
        name: 'crier-graph',
        supportsStaticESM: true,
        supportsDynamicImport: true,
        supportsTopLevelAwait: true,
      },
      sourceMaps: 'inline',
      // Keeps line numbers correct for tools that ignore source maps.
      retainLines: true,
      highlightCode: false,
      ast: true,
    });
    return { code: result?.code ?? '', imports: result?.ast ? importsOf(result.ast) : [] };
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number } };
    // Babel's message is the absolute file name, the text, the position and a code frame.
    const text = message.replace(`${file}: `, '').replace(/ \(\d+:\d+\)/, '');
    report.problems.push({ file, line: loc?.line ?? 1, message: text });
    return undefined;
  }
}

function importsOf(ast: NonNullable<Parameters<typeof traverse>[0]>): Import[] {
  const imports: Import[] = [];
  const add = (source: { value?: unknown; loc?: { start: { line: number } } | null } | null | undefined) => {
    if (typeof source?.value === 'string' && RELATIVE.test(source.value)) {
      imports.push({ specifier: source.value, line: source.loc?.start.line ?? 1 });
    }
  };
  traverse(ast, {
    ImportDeclaration: ({ node }) => add(node.source),
    ExportNamedDeclaration: ({ node }) => add(node.source),
    ExportAllDeclaration: ({ node }) => add(node.source),
    CallExpression: ({ node }) => {
      const argument = node.arguments[0];
      if (node.callee.type === 'Import' && argument?.type === 'StringLiteral') add(argument);
    },
  });
  return imports;
}

const [packageRoot = '', ...entries] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await compileAll(packageRoot, entries)));
