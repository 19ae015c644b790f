import { takesRatio } from './record-sampler.ts';
import type { Variable } from './variable.ts';
import { variables } from './variables.ts';
import { refusal } from './refusal.ts';
import { SecretFileError, readSecretFile } from './secret-file.ts';

/** The values of all variables. */
export type Settings = {
  readonly [Name in keyof typeof variables]: (typeof variables)[Name] extends Variable<infer Value> ? Value : never;
};

/** The files of the secrets that are in files, by the variable of the secret. */
export interface SecretFiles {
  readonly secretFiles: ReadonlyMap<string, string>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads every variable, and each secret from its file if `<NAME>_FILE` names one. Adds a line to `problems` for each that is refused;
 * the settings are complete only without problems.
 */
export function parseSettings(given: Environment, problems: string[]): Settings {
  const environment = withoutForeignArgument(given);
  const values: Record<string, unknown> = {};
  for (const [name, { parse, default: fallback, expects, isSecret }] of Object.entries(variables)) {
    const raw = (isSecret ? secretOf(name, environment, problems) : environment[name]) || fallback;
    const parsed = parse(raw);
    if (parsed) values[name] = parsed.value;
    else problems.push(refusal(name, raw, expects, isSecret));
  }
  return values as Settings;
}

/** The variable that names the file of a secret. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

export function secretFilesOf(environment: Environment): SecretFiles['secretFiles'] {
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
  settings: SecretFiles & Readonly<Record<Name, string>>,
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

/** Platforms that inject OTEL_TRACES_SAMPLER=jaeger_remote also inject its argument, which is no number. */
function withoutForeignArgument(environment: Environment): Environment {
  if (takesRatio(environment['OTEL_TRACES_SAMPLER'] ?? '')) return environment;
  return { ...environment, OTEL_TRACES_SAMPLER_ARG: undefined };
}

function secretOf(name: string, environment: Environment, problems: string[]): string | undefined {
  const variable = fileVariable(name);
  const path = environment[variable];
  if (!path) return environment[name];
  if (environment[name]) {
    problems.push(`${name} and ${variable}: expected one of them, got both; unset one`);
    return undefined;
  }
  try {
    return readSecretFile(path);
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    problems.push(`${variable}: expected a file that holds ${name}, but ${JSON.stringify(path)} ${error.message}`);
    return undefined;
  }
}
