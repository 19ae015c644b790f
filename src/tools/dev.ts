import { FolderWatcher } from './folder-watcher.ts';
import type { ReloadOutcome } from '../server/graph-reloads.ts';
import type { Server } from '../server.ts';
import { say } from './paint.ts';

/** Prints what became of each reload, for the person who edits the graph. */
export class ReloadPrinter {
  #isBroken = false;

  print(reloaded: ReloadOutcome, durationMs: number): void {
    const { outcome } = reloaded;
    if (outcome === 'swapped') say('green', `reloaded in ${durationMs} ms; subscriptions that are still valid go on`);
    else if (outcome === 'refused')
      say('red', `not reloaded, the graph is served as before:\n  ${reloaded.problems.join('\n  ')}`);
    else if (this.#isBroken) say('green', 'fixed: the graph is the one that is served; subscriptions go on');
    this.#isBroken = outcome === 'refused';
  }
}

/** `crier dev`: reloads the graph when its folder changes. */
export async function watchGraph(folder: string, server: Pick<Server, 'reload'>): Promise<FolderWatcher> {
  const watcher = new FolderWatcher({ folder, onChange: () => server.reload() });
  await watcher.start();
  say('dim', `watching ${folder}: the graph is reloaded when a file changes`);
  return watcher;
}
