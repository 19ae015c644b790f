import { FolderWatcher } from '../reload/folder-watcher.ts';
import type { Server } from '../server.ts';
import { paint } from './paint.ts';

/** `crier dev`: reloads the graph when its folder changes, and prints what became of it. */
export async function watchGraph(folder: string, server: Pick<Server, 'reload'>): Promise<FolderWatcher> {
  const watcher = new FolderWatcher({
    folder,
    onChange: async () => {
      const startedAt = performance.now();
      const reloaded = await server.reload();
      const ms = Math.round(performance.now() - startedAt);
      if (reloaded.outcome === 'swapped')
        say('green', `reloaded in ${ms} ms; subscriptions that are still valid go on`);
      else if (reloaded.outcome === 'refused')
        say('red', `not reloaded, the graph is served as before:\n  ${reloaded.problems.join('\n  ')}`);
    },
  });
  await watcher.start();
  say('dim', `watching ${folder}: the graph is reloaded when a file changes`);
  return watcher;
}

function say(colour: 'dim' | 'green' | 'red', text: string): void {
  process.stdout.write(`${paint(process.stdout, colour, text)}\n`);
}
