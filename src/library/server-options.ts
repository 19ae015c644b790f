import { didYouMean } from '../base/did-you-mean.ts';
import { ConfigError } from '../base/errors.ts';
import { backendVariable } from '../config/backend-settings.ts';
import type { BackendInput } from '../config/backend-settings.ts';
import { removedSettings } from '../config/removed-settings.ts';
import { settingNames } from '../config/setting-names.ts';
import type { SettingName, SettingNames } from '../config/setting-names.ts';
import { isProduction } from '../config/environment.ts';
import type { SettingsInput } from '../config/settings-input.ts';
import { variables } from '../config/variables.ts';

/** Settings of the process, which a library does not own. */
type ProcessSetting = 'GRAPH' | 'PROCESSES' | 'PROFILE_ON_EXIT';
const PROCESS_SETTINGS: readonly string[] = ['GRAPH', 'PROCESSES', 'PROFILE_ON_EXIT'] satisfies ProcessSetting[];

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** Every setting of docs/reference/configuration.md in camelCase: `KAFKA_BROKERS` is `kafkaBrokers`. A text is read as the environment variable would be. */
export type SettingOptions = {
  readonly [Name in Exclude<SettingName, ProcessSetting> as CamelCase<Name>]?: SettingsInput['values'][Name];
};

/** The URL, or the URL and what of the caller's headers is sent to it. */
export type BackendOption =
  | string
  | { readonly url: string; readonly forwardAuthorization?: boolean; readonly forwardHeaders?: readonly string[] };

/** By name. undefined counts as not set, as for every option. */
export type BackendOptions = Readonly<Record<string, BackendOption | undefined>>;

/** Parts of a graph, where this takes the graph. */
const GRAPH_PARTS = ['schema', 'typeDefs', 'resolvers', 'context', 'samples', 'formats', 'envelopes'];
/** A word that ends the names of more options than this says too little. */
const MAX_NAMES = 4;

/** The options of `createServer` that are no settings. */
const OWN_OPTIONS = ['graph', 'backends', 'listen', 'logger', 'onFatal'];
const BACKEND_OPTIONS = ['url', 'forwardAuthorization', 'forwardHeaders'];

/** `kafkaBrokers` → `KAFKA_BROKERS`. */
const SETTINGS: ReadonlyMap<string, string> = new Map(
  Object.keys(variables)
    .filter((setting) => !PROCESS_SETTINGS.includes(setting))
    .map((setting) => [optionName(setting), setting]),
);

function optionName(setting: string): string {
  return setting.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The settings that these options give.
 * @param ownOptions further options of the caller, to propose for an unknown one
 * @throws ConfigError naming each unknown option
 */
export function optionsInput(
  settings: Readonly<Record<string, unknown>>,
  { backends, ownOptions }: { readonly backends: BackendOptions; readonly ownOptions: readonly string[] },
): SettingsInput {
  const problems: string[] = [];
  const known = [...SETTINGS.keys(), ...OWN_OPTIONS, ...ownOptions];
  const names = namesOf(backends);
  const values = Object.entries(settings).map(([option, value]) => {
    const setting = SETTINGS.get(option);
    if (setting === undefined) problems.push(removedOption(option, names) ?? unknownOption(option, known));
    if (value === null) problems.push(`${option}: expected a value, or undefined if it is not set, got null`);
    return [setting, value];
  });
  const given = Object.entries(backends).flatMap(([name, option]) => backendOf(name, option, problems) ?? []);
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return {
    values: Object.fromEntries(values) as SettingsInput['values'],
    secretFiles: new Map(),
    backends: given,
    names,
    unknownVariables: [],
    isProduction: isProduction(),
    nodeOptions: '',
    tracesEndpoint: '',
    process: undefined,
  };
}

function namesOf(backends: BackendOptions): SettingNames {
  const given = new Map(Object.keys(backends).map((name) => [backendVariable(name), name]));
  return settingNames(optionName, (backend, suffix) => {
    const name = given.get(backendVariable(backend)) ?? backend;
    return `backends.${name}${suffix === 'URL' ? '' : `.${optionName(suffix)}`}`;
  });
}

/** undefined: it has no URL. */
function backendOf(name: string, option: BackendOption | undefined, problems: string[]): BackendInput | undefined {
  const parts = typeof option === 'object' && option !== null ? option : { url: option };
  const {
    url,
    forwardAuthorization = false,
    forwardHeaders = [],
    ...unknown
  } = parts as Exclude<BackendOption, string>;
  for (const part of Object.keys(unknown)) problems.push(`backends.${name}.${unknownOption(part, BACKEND_OPTIONS)}`);
  if (url === undefined || url === '') return undefined;
  return {
    name,
    URL: String(url),
    FORWARD_AUTHORIZATION: String(forwardAuthorization),
    FORWARD_HEADERS: String(forwardHeaders),
  };
}

/** undefined: no former version had it. */
function removedOption(option: string, names: SettingNames): string | undefined {
  const [, fix] = Array.from(removedSettings).find(([setting]) => optionName(setting) === option) ?? [];
  return fix && `${option}: no longer an option: ${fix(names)}`;
}

function unknownOption(option: string, known: readonly string[]): string {
  if (GRAPH_PARTS.includes(option) && known.includes('graph')) {
    return `${option}: unknown option; it is a part of a graph: graph: defineGraph({ schema: … })`;
  }
  return `${option}: unknown option${endingIn(option, known) || didYouMean(option, known, 0.5)}`;
}

/** Proposes the options whose names end in a name: `kafkaBrokers` for `brokers`. */
function endingIn(option: string, known: readonly string[]): string {
  const names = known.filter((name) => name.toLowerCase().endsWith(option.toLowerCase()));
  return names.length === 0 || names.length > MAX_NAMES ? '' : `; did you mean "${names.join('" or "')}"?`;
}
