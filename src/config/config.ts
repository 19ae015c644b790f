import { ConfigError } from '../base/errors.ts';
import { readBackends } from './backend-parser.ts';
import type { BackendConfig } from './backend-settings.ts';
import { contradictions } from './contradictions.ts';
import { limitsOf } from './limits.ts';
import type { Limits } from './limits.ts';
import { isEmbedded, modeProblems } from './mode.ts';
import { processesOf, processesProblems } from './processes.ts';
import type { Processes } from './processes.ts';
import { parseSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { environmentInput, processEnvironment } from './environment.ts';
import type { SettingsInput, UnknownVariable } from './settings-input.ts';
import type { Environment } from './variable.ts';
import { tracesEndpointProblems } from './traces-endpoint.ts';
import { targetProblems } from './target-problems.ts';
import { shutdownTimes } from './shutdown-times.ts';
import type { ShutdownTimes } from './shutdown-times.ts';
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
    Limits {
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
  /** URL of the collector that OpenTelemetry's own variable names; '': it is not set. */
  readonly tracesEndpoint: string;
  /** Variables of the settings that are set. */
  readonly given: ReadonlySet<string>;
}

/** A graph is developed in the embedded mode. */
const EMBEDDED_SHARING_AUDIT = 0.1;

/**
 * The configuration of a pod that an environment describes. An empty variable counts as not set.
 * @throws ConfigError naming every variable that was refused, its value and what was expected, and the misspelt ones.
 */
export function readConfig(environment: Environment): Config {
  return configOf(environmentInput(environment));
}

/** @throws ConfigError naming every setting that was refused, its value and what was expected, and the misspelt ones. */
export function configOf(input: SettingsInput): Config {
  const problems: string[] = [];
  const settings = parseSettings(input, problems);
  const backends = readBackends(input, problems);
  const { isProduction, nodeOptions, tracesEndpoint, unknownVariables } = input;
  problems.push(...tracesEndpointProblems(input), ...removedProblems(input));
  if (problems.length === 0) {
    problems.push(
      ...modeProblems(settings, isProduction),
      ...processesProblems(settings, input),
      ...contradictions(settings),
      ...targetProblems(settings),
    );
  }
  // A misspelt name is often why a variable is missing.
  const misspelt = unknownVariables.filter(({ isNear }) => isNear).map(({ message }) => message);
  if (problems.length > 0) throw new ConfigError([...problems, ...misspelt].join('\n'));
  return {
    ...settings,
    ...limitsOf(settings),
    ...shutdownTimes(settings),
    ...processesOf(settings, input),
    SHARING_AUDIT: settings.SHARING_AUDIT ?? (isEmbedded(settings) ? EMBEDDED_SHARING_AUDIT : 0),
    INTROSPECTION: settings.INTROSPECTION ?? !isProduction,
    GRAPHIQL: settings.GRAPHIQL ?? !isProduction,
    OTEL_TRACES_SAMPLER_ARG: settings.OTEL_TRACES_SAMPLER_ARG ?? defaultRatio(settings.OTEL_TRACES_SAMPLER),
    backends,
    unknownVariables,
    isEmbedded: isEmbedded(settings),
    isProduction,
    nodeOptions,
    tracesEndpoint,
    given: new Set(
      Object.entries(input.values).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [name])),
    ),
  };
}

/**
 * The settings that an environment describes, whatever the role and the mode: of a command that is not a pod.
 * @throws ConfigError naming every variable that was refused, its value and what was expected.
 */
export function readSettings(environment = processEnvironment()): Settings {
  const problems: string[] = [];
  const input = environmentInput(environment);
  const settings = parseSettings(input, problems);
  problems.push(...removedProblems(input));
  if (problems.length === 0) problems.push(...contradictions(settings));
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return settings;
}

/** A line for each setting of a former version without which something else is in force than it says. */
function removedProblems({ unknownVariables }: SettingsInput): string[] {
  return unknownVariables.filter(({ stopsStart }) => stopsStart).map(({ message }) => message);
}
