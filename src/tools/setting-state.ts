import { readFileSync } from 'node:fs';
import { ENVIRONMENT_FILE } from '../config/environment.ts';
import { mayHoldPassword } from '../config/setting-refusal.ts';
import { settingRow } from '../config/setting-rows.ts';
import { fileVariable } from '../config/settings.ts';
import type { Environment, Variable } from '../config/variable.ts';
import { variables } from '../config/variables.ts';

/** What a setting is here and now. */
export interface SettingState {
  /** '' if it is not set; undefined: it may hold a password. */
  readonly value: string | undefined;
  /** `default`, `environment`, or the path of the file that has it. */
  readonly source: string;
  /** True if a server would not start with this value. */
  readonly isRefused: boolean;
}

/** @param fromFile settings that the file .env has added to the environment */
export function settingState(name: string, environment: Environment, fromFile: readonly string[]): SettingState {
  const variable: Variable | undefined = Object.hasOwn(variables, name)
    ? variables[name as keyof typeof variables]
    : undefined;
  const isSecret = variable?.isSecret === true;
  const given = environment[name] || undefined;
  const secretFile = isSecret ? environment[fileVariable(name)] : undefined;
  const tuned = variable?.isTunable ? tunedValue(name, environment['TUNABLES_FILE']) : undefined;
  const value = tuned ?? given ?? (secretFile ? undefined : (settingRow(name)?.default ?? ''));
  const source = tuned === undefined ? undefined : environment['TUNABLES_FILE'];
  return {
    value: value && mayHoldPassword(value, isSecret) ? undefined : value,
    source: source ?? sourceOf(name, given, fromFile) ?? secretFile ?? 'default',
    isRefused: value !== undefined && variable !== undefined && !variable.parse(value),
  };
}

function sourceOf(name: string, given: string | undefined, fromFile: readonly string[]): string | undefined {
  if (given === undefined) return undefined;
  return fromFile.includes(name) ? ENVIRONMENT_FILE : 'environment';
}

/** undefined: the file does not have it, or cannot be read, which crier check says. */
function tunedValue(name: string, path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    const values = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, string | number | boolean>>;
    return Object.hasOwn(values, name) ? String(values[name]) : undefined;
  } catch {
    return undefined;
  }
}
