import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { transformFileAsync } from '@babel/core';
import { didYouMean } from '../../base/did-you-mean.ts';
import { linksOf, missingName } from './module-links.ts';
import type { ModuleLinks } from './module-links.ts';
import { importedFile } from './plain-modules.ts';
import { NOT_UTF8 } from './schema-file.ts';

/** Output of this process, as JSON. */
export interface CompileReport {
  /** Code with an inline source map, by absolute file name. */
  readonly sources: Record<string, string>;
  /** SHA-256 of the files that they import and that are not compiled, such as JSON, by absolute file name. */
  readonly others: Record<string, string>;
  readonly problems: { file: string; line: number; message: string }[];
}

/** A compiled file, and how it is linked to others. */
interface Compiled extends ModuleLinks {
  readonly code: string;
}

/** `node compile-process.js <package root> <entry>…`: compiles the entries and, recursively, their relative imports. */
async function compileAll(packageRoot: string, entries: readonly string[]): Promise<CompileReport> {
  const report: CompileReport = { sources: {}, others: {}, problems: [] };
  const queue = entries.map((entry) => realpathSync(entry));
  const links = new Map<string, ModuleLinks>();
  const seen = new Set(queue);
  for (const file of queue) {
    const compiled = await compileFile(packageRoot, file, report);
    if (!compiled) continue;
    report.sources[file] = compiled.code;
    links.set(file, compiled);
    for (const { specifier, line, hasType } of compiled.imports) {
      const found = importedFile(file, specifier);
      if (!found) {
        const message = `imports "${specifier}", which does not exist${importFix(file, specifier)}`;
        report.problems.push({ file, line, message });
      } else if (statSync(found).isDirectory()) {
        const message = `imports "${specifier}", which is a folder; write the name of a file in it${indexOf(found, specifier)}`;
        report.problems.push({ file, line, message });
      } else if (!/\.m?[jt]s$/.test(found)) {
        if (found.endsWith('.json') && !hasType) {
          const message = `imports "${specifier}" without its type; write with { type: 'json' } after the file's name`;
          report.problems.push({ file, line, message });
        }
        report.others[found] = createHash('sha256').update(readFileSync(found)).digest('hex');
      } else if (!seen.has(found)) {
        seen.add(found);
        queue.push(found);
      }
    }
  }
  for (const [file, { imports }] of links) {
    for (const one of imports) {
      const found = importedFile(file, one.specifier) ?? '';
      const message = missingName(one, found, links.get(found));
      if (message !== undefined) report.problems.push({ file, line: one.line, message });
    }
  }
  return report;
}

function indexOf(folder: string, specifier: string): string {
  const index = readdirSync(folder).find((name) => /^index\.m?[jt]s$/.test(name));
  return index === undefined ? '' : `: ${specifier.replace(/\/$/, '')}/${index}`;
}

function importFix(importer: string, specifier: string): string {
  if (extname(specifier) === '') return "; write the file's name with its extension";
  const path = join(dirname(importer), specifier);
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
  return didYouMean(basename(path), names) || '; correct the path, or add the file';
}

async function compileFile(packageRoot: string, file: string, report: CompileReport): Promise<Compiled | undefined> {
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
    return { code: result?.code ?? '', ...linksOf(result!.ast!) };
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number } };
    // Babel's message is the absolute file name, the text, the position and a code frame.
    const isText = !/Unexpected character '[\uFFFD\0]'/.test(message);
    const text = isText ? syntaxText(message.replace(`${file}: `, '').replace(/ \(\d+:\d+\)/, '')) : NOT_UTF8;
    report.problems.push({ file, line: loc?.line ?? 1, message: text });
    return undefined;
  }
}

/** Syntax that Babel would need a plugin for, which a graph cannot configure. */
const UNSUPPORTED = /^Support for the experimental syntax '(\w+)' isn't currently enabled[^]*?:\n\n([^]*?)\n\n[^]*$/;

function syntaxText(text: string): string {
  const plain = text.replace(UNSUPPORTED, (_, name: string, frame: string) => {
    const what = name === 'jsx' ? 'JSX is' : `The syntax "${name}" is`;
    return `${what} not compiled; write it without\n\n${frame}`;
  });
  // In TypeScript a tag is a type assertion.
  return /^> .*<\/\w*>/m.test(plain)
    ? plain.replace(/\.?\n/, '; if this is JSX, which is not compiled, write it without\n')
    : plain;
}

const [packageRoot = '', ...entries] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await compileAll(packageRoot, entries)));
