import { didYouMean } from '../base/did-you-mean.ts';
import { UsageError } from '../base/errors.ts';
import type { Command } from './command.ts';

interface Entry {
  /** A line of `crier --help`. */
  readonly summary: string;
  /** Loads only this command: `--help` and errors are quick. */
  readonly load: () => Promise<Command>;
}

export const commands: Readonly<Record<string, Entry>> = {
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
  bench: {
    summary: 'tries any server of graphql-transport-ws: conformance and fan-out',
    load: () => import('./bench/bench.ts'),
  },
  publish: { summary: 'writes lines of standard input to a Kafka topic', load: () => import('./publish.ts') },
  'dead-letters': {
    summary: 'lists, replays or drops records that could not be decoded',
    load: () => import('./dead-letters.ts'),
  },
};

/** @throws UsageError for an unknown command */
export async function runCommand(name: string, args: readonly string[]): Promise<number> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!entry) {
    const names = ['start', 'dev', ...Object.keys(commands)];
    throw new UsageError(`unknown command "${name}"; commands are ${names.join(', ')}${didYouMean(name, names, 0.5)}`);
  }
  const command = await entry.load();
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(command.usage);
    return 0;
  }
  return command.run(args);
}
