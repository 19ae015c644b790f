import { variables } from '../variables.ts';
import { fileVariable } from './settings.ts';

/** A row of `--help` and of docs/configuration.md. */
export interface SettingRow {
  readonly name: string;
  /** '' if the variable is not set. */
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
}

/** The graph names the backends, so `variables` does not list their settings. */
const BACKEND_ROWS: readonly SettingRow[] = [
  {
    name: 'BACKEND_<NAME>_URL',
    default: '',
    unit: '',
    meaning: 'Base URL of a backend: `consumerListingIntake` is `BACKEND_CONSUMER_LISTING_INTAKE_URL`.',
  },
  {
    name: 'BACKEND_<NAME>_FORWARD_AUTHORIZATION',
    default: 'false',
    unit: '',
    meaning: "Whether crier forwards the caller's Authorization header.",
  },
];

/** Every environment variable that crier reads. */
export function settingRows(): SettingRow[] {
  const rows = Object.entries(variables).flatMap(([name, { default: fallback, unit, meaning, isSecret }]) => {
    const row = { name, default: fallback, unit, meaning };
    const file = { name: fileVariable(name), default: '', unit: '', meaning: `File that holds \`${name}\`.` };
    return isSecret ? [row, file] : [row];
  });
  return [...rows, ...BACKEND_ROWS];
}
