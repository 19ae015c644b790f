import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of this test's own, removed at its end. Its name is the real one. */
export async function temporaryFolder(scope: { after(fn: () => Promise<void>): void }): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'crier-test-')));
  scope.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
