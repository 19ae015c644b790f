import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { installHint } from './programs.ts';

/**
 * Downloads the jars of a pom.xml with Maven, once.
 * @param pomFolder the folder of the pom.xml, which fixes the versions
 * @param properties of the pom.xml, with other values than it gives them
 */
export async function installJars(
  pomFolder: string,
  folder: string,
  properties: Readonly<Record<string, string>> = {},
): Promise<void> {
  const jars = await readdir(folder).catch(() => []);
  if (jars.length > 0) return;
  // The folder is renamed once it is complete, so that an interrupted download does not count as an installation.
  const partial = resolve(`${folder}-${process.pid}`);
  await mkdir(partial, { recursive: true });
  try {
    const flags = Object.entries({ ...properties, outputDirectory: partial }).map(
      ([name, value]) => `-D${name}=${value}`,
    );
    await promisify(execFile)('mvn', ['-q', '-B', 'dependency:copy-dependencies', ...flags], {
      cwd: pomFolder,
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error(`mvn was not found; ${installHint(['mvn', 'java'])}`);
    });
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}
