import { didYouMean } from '../base/did-you-mean.ts';
import { ConfigError } from '../base/errors.ts';
import { backendVariable } from '../config/backend-settings.ts';
import type { Environment, Settings } from '../config/settings.ts';
import { settingsByOption } from './option-names.ts';
import type { ProcessSetting } from './option-names.ts';

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** A text is read as the environment variable would be. */
type OptionValue<Value> = Value extends readonly string[] ? Value | string : Value | string;

/** Every setting of docs/configuration.md in camelCase: `KAFKA_BROKERS` is `kafkaBrokers`. */
export type SettingOptions = {
  readonly [Name in Exclude<keyof Settings, ProcessSetting> as CamelCase<Name>]?:
    OptionValue<Settings[Name]> | undefined;
};

/** The URL, or the URL and what of the caller's headers is sent to it. */
export type BackendOption =
  | string
  | { readonly url: string; readonly forwardAuthorization?: boolean; readonly forwardHeaders?: readonly string[] };

/** By name. undefined counts as not set, as for every option. */
export type BackendOptions = Readonly<Record<string, BackendOption | undefined>>;

/** The options of `createServer` that are no settings. */
const OWN_OPTIONS = ['graph', 'backends', 'listen', 'logger', 'onFatal'];
const BACKEND_OPTIONS = ['url', 'forwardAuthorization', 'forwardHeaders'];

/**
 * The environment that these options describe.
 * @param ownOptions further options of the caller, to propose for an unknown one
 * @throws ConfigError naming each unknown option
 */
export function environmentOf(
  settings: Readonly<Record<string, unknown>>,
  backends: BackendOptions = {},
  ownOptions: readonly string[] = [],
): Environment {
  const environment: Record<string, string> = {};
  const problems: string[] = [];
  const known = [...settingsByOption.keys(), ...OWN_OPTIONS, ...ownOptions];
  for (const [option, value] of Object.entries(settings)) {
    const name = settingsByOption.get(option);
    if (name === undefined) problems.push(unknownOption(option, known));
    else if (value !== undefined) environment[name] = textOf(value);
  }
  for (const [backend, option] of Object.entries(backends)) {
    const parts = typeof option === 'object' && option !== null ? option : { url: option };
    const {
      url,
      forwardAuthorization = false,
      forwardHeaders = [],
      ...unknown
    } = parts as Exclude<BackendOption, string>;
    for (const part of Object.keys(unknown))
      problems.push(`backends.${backend}.${unknownOption(part, BACKEND_OPTIONS)}`);
    if (url === undefined || url === '') continue;
    const prefix = `BACKEND_${backendVariable(backend)}`;
    environment[`${prefix}_URL`] = textOf(url);
    environment[`${prefix}_FORWARD_AUTHORIZATION`] = textOf(forwardAuthorization);
    environment[`${prefix}_FORWARD_HEADERS`] = textOf(forwardHeaders);
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return environment;
}

function unknownOption(option: string, known: readonly string[]): string {
  return `${option}: unknown option${didYouMean(option, known, 0.5)}`;
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}
