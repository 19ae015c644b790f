import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { archiveName } from './packages.ts';
import type { Manifest } from './packages.ts';
import { RELEASE_FOLDER, refuse } from './release.ts';
import type { Release } from './release.ts';
import { toolPath } from './tools.ts';

/** publint: the manifest and the files of an archive agree, for Node and for bundlers. */
export function publint(release: Release): Promise<string> {
  return lint(release, 'publint', (archive) => ['run', archive, '--strict']);
}

/** arethetypeswrong: TypeScript finds the types of each entry point that is a module. The packages have no CommonJS. */
export function types(release: Release): Promise<string> {
  return lint(release, 'attw', (archive, manifest) => {
    const excluded = entriesWithoutTypes(manifest).flatMap((entry) => ['--exclude-entrypoints', entry]);
    return [archive, '--profile', 'esm-only', '--format', 'ascii', '--no-color', '--no-emoji', ...excluded];
  });
}

/** Entry points that are texts. */
export function entriesWithoutTypes({ exports = {} }: Manifest): string[] {
  return Object.keys(exports).filter((entry) => /\.(?!js$|json$)\w+$/.test(entry));
}

async function lint(
  { packages }: Release,
  tool: 'publint' | 'attw',
  wordsOf: (archive: string, manifest: Manifest) => string[],
): Promise<string> {
  const problems: string[] = [];
  for (const { manifest } of packages) {
    const words = wordsOf(join(RELEASE_FOLDER, archiveName(manifest)), manifest);
    await promisify(execFile)(process.execPath, [toolPath(tool), ...words]).catch((error: { stdout: string }) =>
      problems.push(
        `${manifest.name}: correct its package.json, whose files and types do not agree:\n${error.stdout.trim()}`,
      ),
    );
  }
  refuse(problems);
  return `${packages.length} packages`;
}
