import { UsageError } from '../base/errors.ts';
import { say } from '../base/paint.ts';
import { BUILT_IN_GRAPH } from '../config/built-in-graph.ts';
import type { ReloadOutcome } from '../server/graph-reloads.ts';
import type { Server } from '../server.ts';
import { FolderWatcher } from './folder-watcher.ts';
import { runServer } from './server-process.ts';
import { readStart } from './start-arguments.ts';

export const usage = `Starts the server, and reloads the graph when a file of its folder changes.

Usage: crier dev [<graph folder>] [options]

  --port <number>  port of WebSocket and HTTP, in place of PORT; 0 takes a free one
  --help           prints this text

Subscriptions that are still valid go on after a reload. A graph with a mistake is not served: crier shows the place,
and serves the former graph until the mistake is corrected. Settings are read once, as by crier start.
`;

export async function run(args: readonly string[]): Promise<undefined> {
  const { config, fromFile } = readStart('dev', args);
  if (config.PROCESSES > 1) throw new UsageError('PROCESSES: expected 1 with crier dev');
  const folder = config.GRAPH || BUILT_IN_GRAPH;
  const { framed } = await import('./code-frame.ts');
  const printer = new ReloadPrinter((problems) => framed(problems, folder));
  await runServer(config, {
    fromFile,
    onReload: (outcome, durationMs) => printer.print(outcome, durationMs),
    onStarted: (server) => watchGraph(folder, server),
  });
  return undefined;
}

/** Prints what became of each reload, for the person who edits the graph. */
class ReloadPrinter {
  readonly #framed: (problems: readonly string[]) => string[];
  #isBroken = false;

  /** @param framed adds the places of problems */
  constructor(framed: (problems: readonly string[]) => string[]) {
    this.#framed = framed;
  }

  print(reloaded: ReloadOutcome, durationMs: number): void {
    const { outcome } = reloaded;
    if (outcome === 'swapped') say('green', `reloaded in ${durationMs} ms; subscriptions that are still valid go on`);
    else if (outcome === 'refused') {
      const problems = this.#framed(reloaded.problems)
        .join('\n')
        .trimEnd()
        .replaceAll(/\n(?=.)/g, '\n  ');
      say('red', `not reloaded, the graph is served as before:\n  ${problems}`);
    } else if (this.#isBroken) say('green', 'fixed: the graph is the one that is served; subscriptions go on');
    this.#isBroken = outcome === 'refused';
  }
}

async function watchGraph(folder: string, server: Pick<Server, 'reload'>): Promise<void> {
  const watcher = new FolderWatcher({ folder, onChange: () => server.reload() });
  await watcher.start();
  say('dim', `watching ${folder}: the graph is reloaded when a file changes`);
}
