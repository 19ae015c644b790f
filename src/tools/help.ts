import { readArguments } from './command.ts';
import type { Commands } from './command.ts';
import { findCommand } from './find-command.ts';

export const usage = `Prints what crier is and does, or the help of a command.

Usage: crier help [<command>]
`;

const OVERVIEW = `crier: GraphQL subscriptions from Kafka topics, over WebSockets, SSE and multipart.

Usage: crier <command> [<argument> …] [--help]

COMMANDS
Without a command it starts the server. Without KAFKA_BROKERS and REDIS_URL everything runs embedded in this process,
fed by the graph's sample records. Settings are environment variables, or lines of a file .env in the working directory.
`;

export async function run(args: readonly string[], commands: Commands): Promise<number> {
  const [name] = readArguments('help', args, { options: {}, maxPositionals: 1 }).positionals;
  const text = name === undefined ? overview(commands) : (await findCommand(commands, name).load()).usage;
  process.stdout.write(text);
  return 0;
}

export const words = (commands: Commands): string[] => Object.keys(commands);

/** The text of `crier help`. */
export function overview(commands: Commands): string {
  const entries = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(12)}  ${summary}\n`);
  return OVERVIEW.replace('COMMANDS\n', () => `${entries.join('')}\n`);
}
