import { deploymentSettings, settingGroups, variables } from './variables.ts';
import type { SettingName } from './setting-names.ts';
import { fileVariable } from './settings.ts';
import type { Variable } from './variable.ts';

/** A row of `--help` and of docs/configuration.md. */
export interface SettingRow {
  readonly name: string;
  /** '' if the variable is not set. */
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
  /** True if it may change while the server runs. */
  readonly isTunable: boolean;
}

/** The graph names the backends, so `variables` does not list their settings. */
const BACKEND_ROWS: readonly SettingRow[] = [
  {
    name: 'BACKEND_<NAME>_URL',
    default: '',
    unit: '',
    meaning: 'Base URL of a backend: `consumerListingIntake` is `BACKEND_CONSUMER_LISTING_INTAKE_URL`.',
    isTunable: false,
  },
  {
    name: 'BACKEND_<NAME>_FORWARD_AUTHORIZATION',
    default: 'false',
    unit: '',
    meaning: "Whether crier forwards the caller's Authorization header, or the token of its `connection_init`.",
    isTunable: false,
  },
  {
    name: 'BACKEND_<NAME>_FORWARD_HEADERS',
    default: '',
    unit: '',
    meaning: "Names of the caller's other headers that crier forwards, separated by commas.",
    isTunable: false,
  },
];

/** Every environment variable that crier reads: those that a deployment sets, then the others by what they are about. */
export function settingGroupRows(): ReadonlyMap<string, readonly SettingRow[]> {
  const first: readonly SettingName[] = deploymentSettings;
  const others = Array.from(settingGroups, ([title, names]) => {
    const rows = names.filter((name) => !first.includes(name)).flatMap(rowsOf);
    return [title, title === 'Backends' ? [...BACKEND_ROWS, ...rows] : rows] as const;
  });
  return new Map([['What a deployment sets', first.flatMap(rowsOf)], ...others]);
}

/** Every environment variable that crier reads. */
export function settingRows(): SettingRow[] {
  return [...settingGroupRows().values()].flat();
}

/** The row of a setting, and that of the file of a secret. */
function rowsOf(name: SettingName): SettingRow[] {
  const { default: fallback, unit, meaning, isSecret, isTunable }: Variable = variables[name];
  const row = { name, default: fallback, unit, meaning, isTunable: isTunable === true };
  const meaningOfFile = `File that holds \`${name}\`.`;
  const file = { name: fileVariable(name), default: '', unit: '', meaning: meaningOfFile, isTunable: false };
  return isSecret ? [row, file] : [row];
}
