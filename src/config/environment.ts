import { backendsIn } from './backend-parser.ts';
import { PROCESS_VARIABLE } from './processes.ts';
import { ENVIRONMENT_NAMES } from './setting-names.ts';
import { secretFilesOf } from './settings.ts';
import type { SettingsInput } from './settings-input.ts';
import { findUnknownVariables } from './unknown-variables.ts';
import type { Environment } from './variable.ts';
import { variables } from './variables.ts';

/** The environment of this process. @param graph a folder that takes the place of GRAPH */
export function processEnvironment(graph?: string): Environment {
  return graph === undefined ? process.env : { ...process.env, GRAPH: graph };
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
    process: environment[PROCESS_VARIABLE] || undefined,
  };
}
