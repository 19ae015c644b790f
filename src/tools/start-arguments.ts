import { ConfigError, UsageError } from '../base/errors.ts';
import { readConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { ENVIRONMENT_FILE, processEnvironment, readEnvironmentFile } from '../config/environment.ts';
import { variables } from '../config/variables.ts';
import { readArguments } from './command.ts';

/** The configuration of a server that the arguments, the environment and the file .env describe. */
export function readStart(
  command: string,
  args: readonly string[],
): { config: Config; fromFile: readonly string[] | undefined } {
  const options = { port: { type: 'string' } } as const;
  const { values, positionals } = readArguments(command, args, { options, maxPositionals: 1 });
  const { port } = values;
  if (port !== undefined && !variables.PORT.parse(port))
    throw new UsageError(`--port: expected ${variables.PORT.expects}, got ${JSON.stringify(port)}`);
  const fromFile = readEnvironmentFile();
  try {
    return { config: readConfig(processEnvironment({ GRAPH: positionals[0], PORT: port })), fromFile };
  } catch (error) {
    if (!(error instanceof ConfigError) || !fromFile?.length) throw error;
    throw new ConfigError(`${error.message}\nfrom ${ENVIRONMENT_FILE}: ${fromFile.join(', ')}`, { cause: error });
  }
}
