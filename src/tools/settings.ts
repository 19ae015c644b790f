import { fold } from './fold.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { UsageError } from '../base/errors.ts';
import { processEnvironment, readEnvironmentFile } from '../config/environment.ts';
import { NOT_SHOWN } from '../config/setting-refusal.ts';
import { settingGroupRows, settingRow, settingRows } from '../config/setting-rows.ts';
import type { SettingRow } from '../config/setting-rows.ts';
import { readArguments } from './command.ts';
import { settingState } from './setting-state.ts';
import type { SettingState } from './setting-state.ts';

export const usage = `Lists the settings, or explains one: its meaning, unit, default, value and source.

Usage: crier settings [<name>] [options]

  --json  prints JSON: a list of all settings, or an object for one
  --help  prints this text

A setting is an environment variable. A file .env in the working directory gives those that the environment does not
have. Values that may hold a password are not shown.
`;

export function run(args: readonly string[]): Promise<number> {
  const options = { json: { type: 'boolean' } } as const;
  const { values, positionals } = readArguments('settings', args, { options, maxPositionals: 1 });
  const [name] = positionals;
  const fromFile = readEnvironmentFile() ?? [];
  const stateOf = (setting: string) => settingState(setting, processEnvironment(), fromFile);
  if (name === undefined) process.stdout.write(values.json ? jsonOfAll(stateOf) : listOfAll());
  else {
    const [variable, row] = named(name);
    const state = stateOf(variable);
    process.stdout.write(values.json ? jsonOf({ ...row, name: variable, ...state }) : explained(variable, row, state));
  }
  return Promise.resolve(0);
}

/** The names that can be typed: those of a backend depend on the graph. */
export const words = (): string[] => settingRows().flatMap(({ name }) => (name.includes('<') ? [] : [name]));

/** @throws UsageError for an unknown name */
function named(name: string): [variable: string, row: SettingRow] {
  const variable = name.toUpperCase();
  const row = settingRow(variable) ?? settingRow(name);
  if (row) return [row.name.includes('<') ? variable : row.name, row];
  const fix = didYouMean(name, words()) || '; crier settings lists them';
  throw new UsageError(`unknown setting ${JSON.stringify(name)}${fix}`);
}

/** By task: names and defaults. */
function listOfAll(): string {
  const groups = Array.from(settingGroupRows(), ([title, rows]) => `${title}\n${rows.map(nameAndDefault).join('')}`);
  return `${groups.join('\n')}\ncrier settings <name> explains one.\n`;
}

function nameAndDefault({ name, default: fallback, unit }: SettingRow): string {
  return `  ${name.padEnd(36)}  ${defaultText(fallback, unit)}\n`;
}

function jsonOfAll(stateOf: (name: string) => SettingState): string {
  const all = Array.from(settingGroupRows(), ([group, rows]) =>
    rows.map((row) => ({ group, ...row, ...(row.name.includes('<') ? {} : stateOf(row.name)) })),
  );
  return jsonOf(all.flat());
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function explained(variable: string, row: SettingRow, { value, source, isRefused }: SettingState): string {
  const { meaning, expects, default: fallback, unit, isTunable } = row;
  const shown = value === undefined ? NOT_SHOWN : JSON.stringify(value);
  const from = `${shown}, from ${source === 'environment' ? 'the environment' : source}`;
  const facts: readonly (readonly [name: string, text: string])[] = [
    ['expects', expects],
    ...(unit === '' ? [] : [['unit', unit] as const]),
    ['default', defaultText(fallback, unit)],
    ['now', source === 'default' ? 'the default' : `${from}${isRefused ? '; it is refused' : ''}`],
    ['tunable', isTunable ? 'yes, by TUNABLES_FILE while the server runs' : 'no, it is read at the start'],
  ];
  const lines = facts.map(([name, text]) => fold(process.stdout, `  ${name.padEnd(8)}  ${text}`, 12));
  return [variable, fold(process.stdout, `  ${meaning}`, 2), '', ...lines, ''].join('\n');
}

function defaultText(fallback: string, unit: string): string {
  return fallback === '' ? 'not set' : `${fallback}${unit === '' ? '' : ` ${unit}`}`;
}
