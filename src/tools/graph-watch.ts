import type { Server } from '../server.ts';
import { FolderWatcher } from './folder-watcher.ts';

/** The changes of a graph's folder: before the server has started one ends a wait for it, then each is a reload. */
export class GraphWatch {
  readonly #watcher: FolderWatcher;
  #server: Pick<Server, 'reload'> | undefined;
  /** True: a change since the last wait. */
  #isChanged = false;
  #onChange: () => void = () => undefined;

  constructor(folder: string) {
    this.#watcher = new FolderWatcher({ folder, onChange: () => this.#change() });
  }

  /** Resolves when the present contents are known: a change from then on counts. */
  start(): Promise<void> {
    return this.#watcher.start();
  }

  /** Resolves after the first change since the start, or since the last wait. Keeps the process alive until then. */
  async change(stop: AbortSignal): Promise<void> {
    const alive = setInterval(() => undefined, 2 ** 30);
    await new Promise<void>((resolve) => {
      this.#onChange = resolve;
      stop.addEventListener('abort', () => resolve());
      if (this.#isChanged || stop.aborted) resolve();
    });
    clearInterval(alive);
    this.#isChanged = false;
  }

  /** Reloads the graph of this server from now on. */
  async reload(server: Pick<Server, 'reload'>): Promise<void> {
    this.#server = server;
    if (this.#isChanged) await server.reload();
  }

  async #change(): Promise<void> {
    this.#isChanged = true;
    this.#onChange();
    await this.#server?.reload();
  }
}
