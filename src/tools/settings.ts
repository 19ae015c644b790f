import { fold } from './fold.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { UsageError } from '../base/errors.ts';
import { processEnvironment, readEnvironmentFile } from '../config/environment.ts';
import { otherNameFix } from '../config/other-names.ts';
import { removedSettings } from '../config/removed-settings.ts';
import { ENVIRONMENT_NAMES } from '../config/setting-names.ts';
import { NOT_SHOWN } from '../config/setting-refusal.ts';
import { settingGroupRows, settingRow, settingRows, unitOf } from '../config/setting-rows.ts';
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
  const stateOf: StateOf = (setting) => settingState(setting, processEnvironment(), fromFile);
  if (name === undefined) process.stdout.write(values.json ? jsonOfAll(stateOf) : listOfAll(stateOf));
  else {
    const [variable, row] = named(name);
    const state = stateOf(variable);
    process.stdout.write(values.json ? jsonOf({ ...row, name: variable, ...state }) : explained(variable, row, state));
  }
  return Promise.resolve(0);
}

type StateOf = (name: string) => SettingState;

/** The names that can be typed: those of a backend depend on the graph. */
export const words = (): string[] => settingRows().flatMap(({ name }) => (name.includes('<') ? [] : [name]));

/** @throws UsageError for an unknown name, and for that of a former version, whose mend it names */
function named(name: string): [variable: string, row: SettingRow] {
  const variable = name.toUpperCase();
  const row = settingRow(variable) ?? settingRow(name);
  if (row) return [row.name.includes('<') ? variable : row.name, row];
  const removed = removedSettings.get(variable);
  if (removed) throw new UsageError(`${variable} is no longer a setting: ${removed(ENVIRONMENT_NAMES)}`);
  const fix = otherNameFix(name) || didYouMean(name, words()) || namesWith(variable) || '; crier settings lists them';
  throw new UsageError(`unknown setting ${JSON.stringify(name)}${fix}`);
}

/** A part of a name finds its settings: `BROKERS` finds KAFKA_BROKERS. */
function namesWith(part: string): string {
  const names = words().filter((word) => `_${word}_`.includes(`_${part}_`) && !word.endsWith('_FILE'));
  return names.length === 0 ? '' : `; with it there are ${names.join(', ')}`;
}

/** By task: names, and of each setting its value with its source, or its default. */
function listOfAll(stateOf: StateOf): string {
  const lineOf = (row: SettingRow) =>
    namesOf(row)
      .map((name) => `  ${name.padEnd(NAME_WIDTH)}  ${listed(row, stateOf(name))}\n`)
      .join('');
  const groups = Array.from(settingGroupRows(), ([title, rows]) => `${title}\n${rows.map(lineOf).join('')}`);
  const heads = `  ${'setting'.padEnd(NAME_WIDTH)}  default, or the value that is set and where it is from\n`;
  return `${heads}\n${groups.join('\n')}\ncrier settings <name> explains one.\n`;
}

const NAME_WIDTH = 36;

/** The name of a row; for a row of all backends also those that the environment has. */
function namesOf({ name }: SettingRow): string[] {
  if (!name.includes('<')) return [name];
  const set = Object.keys(processEnvironment()).filter((variable) => settingRow(variable)?.name === name);
  return [name, ...set.sort()];
}

function listed({ default: fallback, unit }: SettingRow, { value, source, isRefused }: SettingState): string {
  if (source === 'default') return defaultText(fallback, unit);
  const shown = value === undefined ? '(set)' : amount(value, unit);
  const refused = isRefused ? '; it is refused' : '';
  const instead = fallback === '' || fallback === value ? '' : `; default: ${amount(fallback, unit)}`;
  return `${shown}, from ${sourceText(source)}${refused}${instead}`;
}

function jsonOfAll(stateOf: StateOf): string {
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
  const from = `${shown}, from ${sourceText(source)}`;
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

function sourceText(source: string): string {
  return source === 'environment' ? 'the environment' : source;
}

function defaultText(fallback: string, unit: string): string {
  return fallback === '' ? 'not set' : amount(fallback, unit);
}

/** `4000`, `5000 ms`, `1 process`, `auto`. */
function amount(value: string, unit: string): string {
  return `${value} ${unitOf(value, unit)}`.trimEnd();
}
