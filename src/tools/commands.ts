import type { Commands } from './command.ts';
import { findCommand } from './find-command.ts';

export const commands: Commands = {
  dev: {
    summary: 'starts the server, and reloads the graph when a file of its folder changes',
    load: () => import('./dev.ts'),
  },
  start: { summary: 'starts the server', load: () => import('./start.ts') },
  init: {
    summary: 'writes a graph from the records of a topic, or from sample records',
    load: () => import('./init/init.ts'),
  },
  check: { summary: 'tries what a pod needs, and explains the bindings of a graph', load: () => import('./check.ts') },
  codegen: {
    summary: 'writes the TypeScript types of a graph, for its resolvers',
    load: () => import('./codegen/codegen.ts'),
  },
  tail: { summary: 'prints the events of a subscription', load: () => import('./tail/tail.ts') },
  publish: { summary: 'writes lines of standard input to a Kafka topic', load: () => import('./publish.ts') },
  'dead-letters': {
    summary: 'lists, replays or drops records that could not be decoded',
    load: () => import('./dead-letters.ts'),
  },
  bench: {
    summary: 'tries any server of graphql-transport-ws: conformance and fan-out',
    load: () => import('./bench/bench.ts'),
  },
  settings: {
    summary: 'lists the settings, or explains one',
    load: () => import('./settings.ts'),
  },
  completion: {
    summary: 'prints what completes commands, options and settings in a shell',
    load: () => import('./completion/completion.ts'),
  },
  help: {
    summary: 'prints this text, or that of a command',
    load: () => import('./help.ts'),
  },
  version: { summary: 'prints the version', load: () => import('./version.ts') },
};

/** Resolves as `Command.run` does. @throws UsageError for an unknown command */
export async function runCommand(name: string, args: readonly string[]): Promise<number | undefined> {
  const command = await findCommand(commands, name).load();
  if (!args.includes('--help') && !args.includes('-h')) return command.run(args, commands);
  process.stdout.write(command.usage);
  return 0;
}
