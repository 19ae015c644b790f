import { SetupError } from '../base/errors.ts';
import { BACKEND_SUFFIXES, backendVariable } from '../config/backend-settings.ts';
import { variables } from '../config/variables.ts';

/** Settings of the process, which a library does not own. */
export type ProcessSetting = 'GRAPH' | 'PROCESSES' | 'PROFILE_ON_EXIT';
const PROCESS_SETTINGS: ReadonlySet<string> = new Set<ProcessSetting>(['GRAPH', 'PROCESSES', 'PROFILE_ON_EXIT']);

/** `kafkaBrokers` → `KAFKA_BROKERS`. */
export const settingsByOption: ReadonlyMap<string, string> = new Map(
  Object.keys(variables)
    .filter((name) => !PROCESS_SETTINGS.has(name))
    .map((name) => [optionName(name), name]),
);

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['GRAPH', 'graph'],
  ...Array.from(settingsByOption, ([option, name]) => [name, option] as const),
]);

function optionName(variable: string): string {
  return variable.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Names of settings in the text of an error. Those of one word also mean other things: they count at the beginning of a line, after "set" and
 * before "=". Not in quotes, except of a proposal, in a line of code, or after a dot, where a text has words of the graph.
 */
const NAME =
  /^[> ]*\d+ \|.*$|(?<!did you mean )"(?:[^"\\\n]|\\.)*"|(?<![\w.$/])(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|(?<=^|set )[A-Z]+|[A-Z]+(?==))\b/gm;

/**
 * Replaces the names of environment variables in a text by those of options.
 * @param backends names of the option `backends`, and of the graph
 */
export function textWithOptionNames(text: string, backends: Iterable<string>): string {
  const backendOptions = new Map([...backends].flatMap(backendNames));
  return text.replace(NAME, (name) => OPTIONS.get(name) ?? backendOptions.get(name) ?? name);
}

/**
 * The error, of the same class, with names of options instead of those of environment variables.
 * @param backends names of the option `backends`, and of the graph
 */
export function withOptionNames(error: unknown, backends: Iterable<string>): unknown {
  if (!(error instanceof SetupError)) return error;
  const text = textWithOptionNames(error.message, backends);
  const SameError = error.constructor as typeof SetupError;
  return text === error.message ? error : new SameError(text, { cause: error.cause });
}

function backendNames(backend: string): (readonly [string, string])[] {
  return BACKEND_SUFFIXES.map((suffix) => [
    `BACKEND_${backendVariable(backend)}_${suffix}`,
    `backends.${backend}${suffix === 'URL' ? '' : `.${optionName(suffix)}`}`,
  ]);
}
