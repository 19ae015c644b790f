import { SetupError } from '../errors.ts';
import { BACKEND_SUFFIXES, backendVariable } from '../settings/backend-settings.ts';
import { variables } from '../variables.ts';

/** Settings of the process, which a library does not own. */
export type ProcessSetting = 'GRAPH' | 'PROFILE_ON_EXIT';
const PROCESS_SETTINGS: ReadonlySet<string> = new Set<ProcessSetting>(['GRAPH', 'PROFILE_ON_EXIT']);

/** `kafkaBrokers` → `KAFKA_BROKERS`. */
export const settingsByOption: ReadonlyMap<string, string> = new Map(
  Object.keys(variables)
    .filter((name) => !PROCESS_SETTINGS.has(name))
    .map((name) => [optionName(name), name]),
);

function optionName(variable: string): string {
  return variable.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Names of settings in the text of an error. Those of one word also mean other things: they count at the beginning of a line, after "set" and
 * before "=". Not in quotes, in a line of code, or after a dot, where a text has words of the graph.
 */
const NAME =
  /^[> ]*\d+ \|.*$|"(?:[^"\\\n]|\\.)*"|(?<![\w.$/])(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|(?<=^|set )[A-Z]+|[A-Z]+(?==))\b/gm;

/**
 * The error, of the same class, with names of options instead of those of environment variables.
 * @param backends names of the option `backends`
 */
export function withOptionNames(error: unknown, backends: readonly string[]): unknown {
  if (!(error instanceof SetupError)) return error;
  const options = new Map([
    ['GRAPH', 'graph'],
    ...Array.from(settingsByOption, ([option, name]) => [name, option] as const),
    ...backends.flatMap(backendNames),
  ]);
  const text = error.message.replace(NAME, (name) => options.get(name) ?? name);
  const SameError = error.constructor as typeof SetupError;
  return text === error.message ? error : new SameError(text, { cause: error.cause });
}

function backendNames(backend: string): (readonly [string, string])[] {
  return BACKEND_SUFFIXES.map((suffix) => [
    `BACKEND_${backendVariable(backend)}_${suffix}`,
    `backends.${backend}${suffix === 'URL' ? '' : `.${optionName(suffix)}`}`,
  ]);
}
