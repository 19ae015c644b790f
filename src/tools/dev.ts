import { statSync } from 'node:fs';
import { UsageError } from '../base/errors.ts';
import type { GraphError } from '../base/errors.ts';
import { say } from '../base/paint.ts';
import { BUILT_IN_GRAPH } from '../config/built-in-graph.ts';
import type { ReloadOutcome } from '../server/graph-reloads.ts';
import { GraphWatch } from './graph-watch.ts';
import { runServer } from './server-process.ts';
import { readStart } from './start-arguments.ts';

export const usage = `Starts the server, and reloads the graph when a file of its folder changes.

Usage: crier dev [<graph folder>] [options]

  --port <number>  port of WebSocket and HTTP, in place of PORT; 0 takes a free one
  --help           prints this text

Subscriptions that are still valid go on after a reload. A graph with a mistake is not served: crier shows the place,
and until it is corrected serves the former graph, or waits to start. Settings are read once, as by crier start.
`;

export async function run(args: readonly string[]): Promise<undefined> {
  const { config, fromFile } = readStart('dev', args);
  if (config.PROCESSES > 1) throw new UsageError('PROCESSES: expected 1 with crier dev');
  const folder = config.GRAPH || BUILT_IN_GRAPH;
  const { framed } = await import('./code-frame.ts');
  const { GraphLoader } = await import('../graph/loading/load.ts');
  const printer = new ProblemPrinter((problems) => framed(problems, folder));
  const watch = new GraphWatch(folder);
  // Before the graph is loaded: it may be corrected meanwhile.
  await watch.start();
  await runServer(config, {
    fromFile,
    // One for all attempts: Node imports a module that has failed under another URL only.
    graph: new GraphLoader(folder, config.names.GRAPH),
    onBrokenGraph: async (error, stop) => {
      if (!isFolder(folder)) throw error;
      printer.printStart(error);
      say('dim', `watching ${folder}: crier starts when a file changes`);
      await watch.change(stop);
    },
    onReload: (outcome, durationMs) => printer.printReload(outcome, durationMs),
    onStarted: async (server) => {
      say('dim', `watching ${folder}: the graph is reloaded when a file changes`);
      await watch.reload(server);
    },
  });
  return undefined;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Prints what became of the start and of each reload, for the person who edits the graph. */
class ProblemPrinter {
  readonly #framed: (problems: readonly string[]) => string[];
  #isBroken = false;

  /** @param framed adds the places of problems */
  constructor(framed: (problems: readonly string[]) => string[]) {
    this.#framed = framed;
  }

  printStart({ message }: GraphError): void {
    this.#print('not started, the graph has mistakes', message.split('\n'));
  }

  printReload(reloaded: ReloadOutcome, durationMs: number): void {
    const { outcome } = reloaded;
    if (outcome === 'swapped') say('green', `reloaded in ${durationMs} ms; subscriptions that are still valid go on`);
    else if (outcome === 'refused') this.#print('not reloaded, the graph is served as before', reloaded.problems);
    else if (this.#isBroken) say('green', 'fixed: the graph is the one that is served; subscriptions go on');
    this.#isBroken = outcome === 'refused';
  }

  #print(what: string, problems: readonly string[]): void {
    const lines = this.#framed(problems)
      .join('\n')
      .trimEnd()
      .replaceAll(/\n(?=.)/g, '\n  ');
    say('red', `${what}:\n  ${lines}`);
  }
}
