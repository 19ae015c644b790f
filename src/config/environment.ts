import { readFileSync } from 'node:fs';
import { SetupError } from '../base/errors.ts';
import { backendsIn } from './backend-parser.ts';
import { PROCESS_VARIABLE } from './processes.ts';
import { ENVIRONMENT_NAMES } from './setting-names.ts';
import { settingRow } from './setting-rows.ts';
import { secretFilesOf } from './settings.ts';
import { TRACES_ENDPOINT } from './traces-endpoint.ts';
import type { SettingsInput } from './settings-input.ts';
import { findUnknownVariables } from './unknown-variables.ts';
import type { Environment } from './variable.ts';
import { variables } from './variables.ts';

/** In the working directory. */
export const ENVIRONMENT_FILE = '.env';

/** The environment of this process. @param given what takes its place */
export function processEnvironment(given: Environment = {}): Environment {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return set.length === 0 ? process.env : { ...process.env, ...Object.fromEntries(set) };
}

/**
 * Adds the variables of the file .env that the environment does not have.
 * @returns the names of the settings among them; undefined without the file (a directory, such as Python's, is none), and in a process of a pod, whose starter has read it
 * @throws SetupError if the file cannot be read, or has a line that is no assignment
 */
export function readEnvironmentFile(): readonly string[] | undefined {
  if (process.env[PROCESS_VARIABLE]) return undefined;
  const before = new Set(Object.keys(process.env));
  try {
    const line = wrongLine(readFileSync(ENVIRONMENT_FILE, 'utf8'));
    if (line !== undefined)
      throw new SetupError(`${ENVIRONMENT_FILE}: expected lines such as PORT=5000, but line ${line} is none`);
    process.loadEnvFile(ENVIRONMENT_FILE);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return undefined;
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      `${ENVIRONMENT_FILE}: expected a file with lines such as PORT=5000, or none, but it cannot be read: ${message}`,
      { cause: error },
    );
  }
  return Object.keys(process.env)
    .filter((name) => !before.has(name) && settingRow(name))
    .sort();
}

/** A variable whose value is in quotes, and may have several lines. */
const QUOTED = /^ *(?:export +)?[\w.-]+[ \t]*=[ \t]*(["'`])[^]*?\1/gm;
const LINE = /^ *(?:export +)?[\w.-]+[ \t]*=|^\s*(?:#|$)/;

/**
 * The first line, from 1, that is neither an assignment nor a comment; undefined: there is none. Node 20 takes it for the beginning of the
 * next name, so that the next setting would be missing, too.
 */
function wrongLine(text: string): number | undefined {
  const lines = text.replaceAll(QUOTED, (quoted) => `A=${quoted.replaceAll(/[^\n]/g, '')}`).split(/\r?\n/);
  const at = lines.findIndex((line) => !LINE.test(line));
  return at < 0 ? undefined : at + 1;
}

export function isProduction(environment = processEnvironment()): boolean {
  return environment['NODE_ENV'] === 'production';
}

/** The settings that an environment gives. */
export function environmentInput(environment: Environment): SettingsInput {
  return {
    values: Object.fromEntries(Object.keys(variables).map((name) => [name, environment[name]])),
    secretFiles: secretFilesOf(environment),
    backends: backendsIn(environment),
    names: ENVIRONMENT_NAMES,
    unknownVariables: findUnknownVariables(environment),
    isProduction: isProduction(environment),
    nodeOptions: environment['NODE_OPTIONS'] ?? '',
    tracesEndpoint: environment[TRACES_ENDPOINT] ?? '',
    process: environment[PROCESS_VARIABLE] || undefined,
  };
}
