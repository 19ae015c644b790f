import { BACKEND_SUFFIXES } from './backend-settings.ts';
import { deploymentSettings, settingGroups, variables } from './variables.ts';
import type { SettingName } from './setting-names.ts';
import { fileVariable } from './settings.ts';
import { BOOL } from './variable.ts';
import type { Variable } from './variable.ts';

/** A row of `crier settings` and of docs/reference/configuration.md. */
export interface SettingRow {
  readonly name: string;
  /** '' if the variable is not set. */
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
  /** The value that the message of a refusal asks for. */
  readonly expects: string;
  /** The value is never shown. */
  readonly isSecret: boolean;
  /** True if it may change while the server runs. */
  readonly isTunable: boolean;
}

/** The graph names the backends, so `variables` does not list their settings. */
const BACKEND_ROWS: readonly SettingRow[] = [
  {
    name: 'BACKEND_<NAME>_URL',
    default: '',
    unit: '',
    expects: 'an http:// or https:// URL',
    meaning: 'Base URL of a backend: `consumerListingIntake` is `BACKEND_CONSUMER_LISTING_INTAKE_URL`.',
    isSecret: false,
    isTunable: false,
  },
  {
    name: 'BACKEND_<NAME>_FORWARD_AUTHORIZATION',
    default: 'false',
    unit: '',
    expects: BOOL,
    meaning: "Whether the caller's Authorization header, or the token of its `connection_init`, is forwarded.",
    isSecret: false,
    isTunable: false,
  },
  {
    name: 'BACKEND_<NAME>_FORWARD_HEADERS',
    default: '',
    unit: '',
    expects: 'names of headers, separated by commas',
    meaning: "The caller's other headers that are forwarded, separated by commas.",
    isSecret: false,
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

/** The unit as it stands beside a value: `processes` is `process` beside 1; '' beside a word. */
export function unitOf(value: string, unit: string): string {
  if (value === '1') return unit.replace(/(?<=ss)es|(?<=\w{2})s(?=$|\/)/, '');
  return /^\d/.test(value) ? unit : '';
}

/** The row of a setting by its name in an environment; undefined: there is none. */
export function settingRow(name: string): SettingRow | undefined {
  const [, suffix] = BACKEND_SETTING.exec(name) ?? [];
  const shown = suffix === undefined ? name : `BACKEND_<NAME>_${suffix}`;
  return settingRows().find((row) => row.name === shown);
}

const BACKEND_SETTING = new RegExp(`^BACKEND_[A-Z0-9_]+_(${BACKEND_SUFFIXES.join('|')})$`);

/** The row of a setting, and that of the file of a secret. */
function rowsOf(name: SettingName): SettingRow[] {
  const { default: fallback, unit, meaning, expects, isSecret, isTunable }: Variable = variables[name];
  const row = { name, default: fallback, unit, meaning, expects, isSecret: isSecret === true };
  const file = { name: fileVariable(name), default: '', unit: '', isSecret: false, isTunable: false };
  return [
    { ...row, isTunable: isTunable === true },
    ...(isSecret ? [{ ...file, meaning: `File that holds \`${name}\`.`, expects: 'the path of a file' }] : []),
  ];
}
