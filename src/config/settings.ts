import { takesRatio } from './record-sampler.ts';
import type { SettingName, SettingNames } from './setting-names.ts';
import type { SettingValues, SettingsInput } from './settings-input.ts';
import { nearValueFix } from './near-value.ts';
import type { Environment, Variable } from './variable.ts';
import { variables } from './variables.ts';
import { refusal } from './setting-refusal.ts';
import { SecretFileError, readSecretFile } from '../base/secret-file.ts';

/** Where settings are from. */
export interface SettingsSource {
  /** The files of the secrets that are in files, by the variable of the secret. */
  readonly secretFiles: ReadonlyMap<string, string>;
  /** What messages call the settings. */
  readonly names: SettingNames;
}

export type Settings = SettingValues & SettingsSource;

/**
 * Parses every setting, and reads each secret from its file if `<NAME>_FILE` names one. Adds a line to `problems` for each that is refused;
 * the settings are complete only without problems.
 */
export function parseSettings(input: SettingsInput, problems: string[]): Settings {
  const { names, secretFiles } = input;
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(variables)) {
    const { parse, default: fallback, expects, isSecret } = variable;
    const setting = name as SettingName;
    const raw = (isSecret ? secretOf(setting, input, problems) : textOf(setting, input)) || fallback;
    const parsed = parse(raw);
    if (parsed) values[name] = parsed.value;
    else problems.push(refusal(names[setting], raw, expects, isSecret, fixOf(raw, variable)));
  }
  return { ...(values as SettingValues), secretFiles, names };
}

function fixOf(raw: string, variable: Variable & { readonly words?: readonly string[] }): string {
  return nearValueFix(raw, (text) => variable.parse(text) !== undefined, variable.words);
}

/** The variable that names the file of a secret. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

export function secretFilesOf(environment: Environment): SettingsSource['secretFiles'] {
  const names = Object.entries(variables).flatMap(([name, { isSecret }]) => (isSecret ? [name] : []));
  return new Map(
    names.flatMap((name) => {
      const path = environment[fileVariable(name)];
      return path ? [[name, path] as const] : [];
    }),
  );
}

/**
 * A secret as its file has it now, if it is in a file.
 * @throws Error that names the variable, if the file cannot be read
 */
export function secretNow<Name extends string>(
  settings: Pick<SettingsSource, 'secretFiles'> & Readonly<Record<Name, string>>,
  name: Name,
): string {
  const path = settings.secretFiles.get(name);
  if (path === undefined) return settings[name];
  try {
    return readSecretFile(path);
  } catch (error) {
    throw new Error(`${fileVariable(name)}: ${JSON.stringify(path)} ${(error as Error).message}`, { cause: error });
  }
}

function textOf(name: SettingName, { values }: SettingsInput): string {
  // Platforms that inject OTEL_TRACES_SAMPLER=jaeger_remote also inject its argument, which is no number.
  if (name === 'OTEL_TRACES_SAMPLER_ARG' && !takesRatio(values.OTEL_TRACES_SAMPLER ?? '')) return '';
  // A list becomes its items, separated by commas.
  return String(values[name] ?? '');
}

function secretOf(name: SettingName, input: SettingsInput, problems: string[]): string {
  const text = textOf(name, input);
  const path = input.secretFiles.get(name);
  if (path === undefined) return text;
  const variable = fileVariable(name);
  if (text !== '') {
    problems.push(`${name} and ${variable}: expected one of them, got both; unset one`);
    return '';
  }
  try {
    return readSecretFile(path);
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    problems.push(`${variable}: expected a file that holds ${name}, but ${JSON.stringify(path)} ${error.message}`);
    return '';
  }
}
