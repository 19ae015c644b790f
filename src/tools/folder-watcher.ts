import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface FolderWatcherOptions {
  readonly folder: string;
  /** Called after a change, one call at a time, when the folder has been the same for two looks. A rejection ends nothing. */
  readonly onChange: () => Promise<unknown>;
  /** Default: 300. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 300;
/** What a graph's own files are not in. */
const SKIPPED = new Set(['node_modules', '.git']);
const MAX_FILES = 1000;

/**
 * Calls back when a file of a graph's folder has changed, was added or removed. It compares contents at intervals, like `WatchedFile`, and
 * waits for a look without a change: editors and `git checkout` write several files, each in steps.
 */
export class FolderWatcher {
  readonly #options: FolderWatcherOptions;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #seen: string | undefined;
  #reported: string | undefined;

  constructor(options: FolderWatcherOptions) {
    this.#options = options;
  }

  /** Resolves when the present contents are known. */
  async start(): Promise<void> {
    this.#seen = this.#reported = await digestOf(this.#options.folder);
    this.#schedule();
  }

  /** Idempotent, safe before the start. */
  close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    return Promise.resolve();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#look(), this.#options.intervalMs ?? INTERVAL_MS).unref();
  }

  async #look(): Promise<void> {
    const { folder, onChange } = this.#options;
    const before = this.#seen;
    this.#seen = await digestOf(folder);
    if (!this.#isClosed && this.#seen === before && this.#seen !== this.#reported) {
      this.#reported = this.#seen;
      await onChange().catch(() => undefined);
    }
    this.#schedule();
  }
}

/** Equal for equal contents. Never rejects: a file that disappears meanwhile is a change. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  let files = 0;
  const visit = async (path: string) => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = join(path, entry.name);
      if (SKIPPED.has(entry.name) || files >= MAX_FILES) continue;
      if (entry.isDirectory()) await visit(name);
      else {
        files++;
        hash.update(JSON.stringify([name, await readFile(name, 'base64').catch(() => '')]));
      }
    }
  };
  await visit(folder);
  return hash.digest('hex');
}
