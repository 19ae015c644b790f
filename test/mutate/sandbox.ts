import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformAsync } from '@babel/core';

/** Entries that a sandbox links to instead of copying. */
const SHARED = ['node_modules', '.stack'];
const LEFT_OUT = ['.git', ...SHARED];

/** A copy of the built checkout in which compiled source files are replaced. */
export class Sandbox {
  readonly folder: string;
  /** Temporary files of the tests: a test that is killed does not remove its own. */
  readonly temporary: string;
  /** The file that instrumented functions write to. */
  readonly record: string;

  private constructor(folder: string) {
    this.folder = join(folder, 'crier');
    this.temporary = join(folder, 'tmp');
    this.record = join(folder, 'reached');
  }

  static async create(root: string): Promise<Sandbox> {
    const sandbox = new Sandbox(await realpath(await mkdtemp(join(tmpdir(), 'crier-mutants-'))));
    await mkdir(sandbox.folder);
    for (const entry of await readdir(root)) {
      if (LEFT_OUT.includes(entry)) continue;
      // Keeps relative links, so that dist/src leads into the copy.
      await cp(join(root, entry), join(sandbox.folder, entry), { recursive: true, verbatimSymlinks: true });
    }
    for (const entry of SHARED) await symlink(join(root, entry), join(sandbox.folder, entry));
    // A bundle would run the modules that it was made of, not those that are replaced.
    await sandbox.replace('src/main.ts', await readFile(join(root, 'src', 'main.ts'), 'utf8'));
    await sandbox.clean();
    return sandbox;
  }

  /** Compiles `source` in place of `file` (`src/bus/redis/redis-bus.ts`), as the build does. */
  async replace(file: string, source: string): Promise<void> {
    const result = await transformAsync(source, { filename: join(process.cwd(), file), sourceMaps: 'inline' });
    await writeFile(join(this.folder, 'dist', file.replace(/\.ts$/, '.js')), result!.code!);
  }

  async clean(): Promise<void> {
    await rm(this.temporary, { recursive: true, force: true });
    await mkdir(this.temporary);
  }

  async takeRecord(): Promise<Set<string>> {
    const text = await readFile(this.record, 'utf8').catch(() => '');
    await rm(this.record, { force: true });
    return new Set(text.split('\n').filter((line) => line !== ''));
  }

  async remove(): Promise<void> {
    await rm(join(this.folder, '..'), { recursive: true, force: true, maxRetries: 5 });
  }
}
