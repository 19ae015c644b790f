import { ConfigError } from '../base/errors.ts';
import { readBackends } from './backend-settings.ts';
import type { BackendConfig } from './backend-settings.ts';
import { contradictions } from './contradictions.ts';
import { isEmbedded, modeProblems } from './mode.ts';
import { processesOf, processesProblems } from './processes.ts';
import type { Processes } from './processes.ts';
import { parseSettings, secretFilesOf } from './settings.ts';
import type { Environment, SecretFiles, Settings } from './settings.ts';
import { targetProblems } from './target-problems.ts';
import { shutdownTimes } from './shutdown-times.ts';
import type { ShutdownTimes } from './shutdown-times.ts';
import { findUnknownVariables } from './unknown-variables.ts';
import type { UnknownVariable } from './unknown-variables.ts';
import { defaultRatio } from './record-sampler.ts';

/** Settings whose default depends on others. */
interface Resolved {
  readonly SHARING_AUDIT: number;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
  readonly INTROSPECTION: boolean;
  readonly GRAPHIQL: boolean;
}

export interface Config
  extends
    Omit<Settings, 'EMBEDDED' | keyof Resolved | keyof ShutdownTimes | keyof Processes>,
    Resolved,
    ShutdownTimes,
    Processes,
    SecretFiles {
  /** By `backendVariable(name)`. */
  readonly backends: ReadonlyMap<string, BackendConfig>;
  /** Variables that look like settings and are none. */
  readonly unknownVariables: readonly UnknownVariable[];
  /** Neither Kafka nor Redis: the whole path in one process, fed by the graph's samples. */
  readonly isEmbedded: boolean;
  /** NODE_ENV=production, as in the image. */
  readonly isProduction: boolean;
  /** NODE_OPTIONS, with the flags of V8. */
  readonly nodeOptions: string;
  /** Names of the variables that the environment sets. */
  readonly given: ReadonlySet<string>;
}

/** A graph is developed in the embedded mode. */
const EMBEDDED_SHARING_AUDIT = 0.1;

/**
 * The configuration of a pod that an environment describes. An empty variable counts as not set.
 * @throws ConfigError naming every variable that was refused, its value and what was expected, and the misspelt ones.
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const settings = parseSettings(environment, problems);
  const backends = readBackends(environment, problems);
  const isProduction = environment['NODE_ENV'] === 'production';
  if (problems.length === 0) {
    problems.push(
      ...modeProblems(settings, isProduction),
      ...processesProblems(settings, environment),
      ...contradictions(settings),
      ...targetProblems(settings),
    );
  }
  const unknownVariables = findUnknownVariables(environment);
  // A misspelt name is often why a variable is missing.
  const misspelt = unknownVariables.filter(({ isNear }) => isNear).map(({ message }) => message);
  if (problems.length > 0) throw new ConfigError([...problems, ...misspelt].join('\n'));
  const SHARING_AUDIT = settings.SHARING_AUDIT ?? (isEmbedded(settings) ? EMBEDDED_SHARING_AUDIT : 0);
  const given = new Set(Object.keys(environment).filter((name) => environment[name]));
  return {
    ...settings,
    ...shutdownTimes(settings),
    ...processesOf(settings, environment),
    SHARING_AUDIT,
    INTROSPECTION: settings.INTROSPECTION ?? !isProduction,
    GRAPHIQL: settings.GRAPHIQL ?? !isProduction,
    OTEL_TRACES_SAMPLER_ARG: settings.OTEL_TRACES_SAMPLER_ARG ?? defaultRatio(settings.OTEL_TRACES_SAMPLER),
    backends,
    secretFiles: secretFilesOf(environment),
    unknownVariables,
    isEmbedded: isEmbedded(settings),
    isProduction,
    nodeOptions: environment['NODE_OPTIONS'] ?? '',
    given,
  };
}

/**
 * The settings that an environment describes, whatever the role and the mode: of a command that is not a pod.
 * @throws ConfigError naming every variable that was refused, its value and what was expected.
 */
export function readSettings(environment: Environment): Settings & SecretFiles {
  const problems: string[] = [];
  const settings = parseSettings(environment, problems);
  if (problems.length === 0) problems.push(...contradictions(settings));
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return { ...settings, secretFiles: secretFilesOf(environment) };
}
