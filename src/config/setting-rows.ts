import { tunableNames, variables } from './variables.ts';
import { fileVariable } from './settings.ts';

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

/** Every environment variable that crier reads. */
export function settingRows(): SettingRow[] {
  const tunables: readonly string[] = tunableNames;
  const rows = Object.entries(variables).flatMap(([name, { default: fallback, unit, meaning, isSecret }]) => {
    const row = { name, default: fallback, unit, meaning, isTunable: tunables.includes(name) };
    const meaningOfFile = `File that holds \`${name}\`.`;
    const file = { name: fileVariable(name), default: '', unit: '', meaning: meaningOfFile, isTunable: false };
    return isSecret ? [row, file] : [row];
  });
  return [...rows, ...BACKEND_ROWS];
}
