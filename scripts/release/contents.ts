import { execFile } from 'node:child_process';
import { join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { archiveName } from './packages.ts';
import type { Manifest } from './packages.ts';
import { RELEASE_FOLDER, refuse } from './release.ts';
import type { Release } from './release.ts';

/** What every package has. */
const TEXTS = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'];

/** What a package may have besides, by its folder. */
const ALLOWED: Readonly<Record<string, readonly RegExp[]>> = {
  '.': [
    /^dist\/src\/.*\.(?:js|js\.map|d\.ts|lua)$/,
    // Pages, compressed.
    /^dist\/src\/gateway\/http\/(?:graphiql|live)\/[^/]+\.(?:gz|html|css|svg|png|ttf)$/,
    /^dist\/examples\/auction\/[^/]+\.(?:js|js\.map|graphql|yml|md)$/,
    /^dist\/revision$/,
    /^babel\.config\.js$/,
    /^directives\.graphql$/,
  ],
  client: [/^dist\/[\w-]+\.js$/, /^dist\/client\.d\.ts$/],
  'create-crier': [/^[\w-]+\.js$/],
  'plugins/babel-plugin-proxy-lazy': [/^[\w-]+\.(?:js|d\.ts)$/],
};

/** Each archive has what its manifest names, and nothing that is not allowed. */
export async function contents({ packages }: Release): Promise<string> {
  const listed = await Promise.all(
    packages.map(async ({ folder, manifest }) => ({ folder, manifest, files: await filesOf(archiveName(manifest)) })),
  );
  refuse(listed.flatMap(({ folder, manifest, files }) => contentProblems(folder, manifest, files)));
  return listed.map(({ folder, files }) => `${folder} ${files.length}`).join(', ') + ' files';
}

export function contentProblems(folder: string, manifest: Manifest, files: readonly string[]): string[] {
  const targets = Object.values(manifest.exports ?? {}).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  const needed = [...TEXTS, ...targets, ...Object.values(manifest.bin ?? {})].map((path) => normalize(path));
  const allowed = ALLOWED[folder] ?? [];
  const surplus = files.filter((file) => !TEXTS.includes(file) && !allowed.some((pattern) => pattern.test(file)));
  return [
    ...[...new Set(needed)]
      .filter((path) => !files.includes(path))
      .map(
        (path) => `${manifest.name} lacks ${path}: add it, or correct "exports", "bin" or "files" of its package.json`,
      ),
    ...surplus.map(
      (file) =>
        `${manifest.name} has ${file}: exclude it by "files" of its package.json, or allow it in scripts/release/contents.ts`,
    ),
  ];
}

async function filesOf(archive: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('tar', ['-tzf', join(RELEASE_FOLDER, archive)], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout
    .trimEnd()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}
