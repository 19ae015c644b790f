import { ENVIRONMENT_FILE, processEnvironment, readEnvironmentFile } from '../config/environment.ts';
import type { Environment } from '../config/variable.ts';

/** The environment of a command, with what the file .env adds. */
export interface CommandEnvironment {
  readonly environment: Environment;
  /** Names of settings that the file .env has added. */
  readonly fromFile: readonly string[];
}

/** The environment of a command that is not a server, with what the file .env adds, which standard error says. @param graph in place of GRAPH */
export function readCommandEnvironment(graph?: string): CommandEnvironment {
  const settings = readEnvironmentFile();
  const count = settings?.length === 1 ? '1 setting was' : `${settings?.length} settings were`;
  if (settings) process.stderr.write(`${ENVIRONMENT_FILE}: ${count} read\n`);
  return { environment: processEnvironment({ GRAPH: graph }), fromFile: settings ?? [] };
}

export function commandEnvironment(graph?: string): Environment {
  return readCommandEnvironment(graph).environment;
}
