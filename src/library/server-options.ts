import { didYouMean } from '../did-you-mean.ts';
import { ConfigError } from '../errors.ts';
import { backendVariable } from '../settings/backend-settings.ts';
import type { Environment, Settings } from '../settings/settings.ts';
import { variables } from '../variables.ts';

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** A text is read as the environment variable would be. */
type OptionValue<Value> = Value extends readonly string[] ? Value | string : Value | string;

/** Settings of the process, which a library does not own. */
type ProcessSetting = 'GRAPH' | 'PROFILE_ON_EXIT';
const PROCESS_SETTINGS: ReadonlySet<string> = new Set<ProcessSetting>(['GRAPH', 'PROFILE_ON_EXIT']);

/** Every setting of docs/configuration.md in camelCase: `KAFKA_BROKERS` is `kafkaBrokers`. */
export type SettingOptions = {
  readonly [Name in Exclude<keyof Settings, ProcessSetting> as CamelCase<Name>]?:
    OptionValue<Settings[Name]> | undefined;
};

/** The URL, or the URL and what of the caller's headers is sent to it. */
export type BackendOption =
  | string
  | { readonly url: string; readonly forwardAuthorization?: boolean; readonly forwardHeaders?: readonly string[] };

/** `kafkaBrokers` → `KAFKA_BROKERS`. */
const namesByOption = new Map(
  Object.keys(variables)
    .filter((name) => !PROCESS_SETTINGS.has(name))
    .map((name) => [optionName(name), name]),
);

function optionName(variable: string): string {
  return variable.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The environment that these options describe.
 * @throws ConfigError naming each unknown option
 */
export function environmentOf(
  settings: Readonly<Record<string, unknown>>,
  backends: Readonly<Record<string, BackendOption>> = {},
): Environment {
  const environment: Record<string, string> = {};
  const problems: string[] = [];
  for (const [option, value] of Object.entries(settings)) {
    const name = namesByOption.get(option);
    if (name === undefined)
      problems.push(`${option}: unknown option${didYouMean(option, [...namesByOption.keys()], 0.5)}`);
    else if (value !== undefined) environment[name] = textOf(value);
  }
  for (const [backend, option] of Object.entries(backends)) {
    const {
      url,
      forwardAuthorization = false,
      forwardHeaders = [],
    } = typeof option === 'string' ? { url: option } : option;
    const prefix = `BACKEND_${backendVariable(backend)}`;
    environment[`${prefix}_URL`] = url;
    environment[`${prefix}_FORWARD_AUTHORIZATION`] = String(forwardAuthorization);
    environment[`${prefix}_FORWARD_HEADERS`] = forwardHeaders.join(',');
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return environment;
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}

/** The error with names of options instead of those of environment variables. */
export function withOptionNames(error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error;
  const text = error.message.replace(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b/g, (name) =>
    namesByOption.get(optionName(name)) === name ? optionName(name) : name,
  );
  return new ConfigError(text, { cause: error });
}
