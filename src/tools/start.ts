import { runServer } from './server-process.ts';
import { readStart } from './start-arguments.ts';

export const usage = `Starts the server: the whole path from Kafka to clients, or the half that ROLE names.

Usage: crier start [<graph folder>] [options]

  --port <number>  port of WebSocket and HTTP, in place of PORT; 0 takes a free one
  --help           prints this text

The folder is GRAPH by default, or the built-in auction graph. Without KAFKA_BROKERS and REDIS_URL everything runs
embedded in this process, fed by the graph's sample records; with NODE_ENV=production, EMBEDDED=true must ask for that.
Settings are environment variables (crier settings). A file .env in the working directory gives those that the
environment does not have. The log goes to standard error: as text on a terminal, elsewhere as JSON (LOG_FORMAT).
crier check tries what a start needs, and starts nothing. crier dev reloads the graph when it changes.
`;

export async function run(args: readonly string[]): Promise<undefined> {
  const { config, fromFile } = readStart('start', args);
  await runServer(config, { fromFile });
  return undefined;
}
