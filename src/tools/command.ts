import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { didYouMean } from '../base/did-you-mean.ts';
import { UsageError } from '../base/errors.ts';
import { variables } from '../config/variables.ts';

/** The module of a command. */
export interface Command {
  /** What `crier <command> --help` prints: at most 30 lines. */
  readonly usage: string;
  /**
   * Resolves with the exit code, or with undefined if the process goes on.
   * @throws UsageError for wrong arguments; SetupError for what a person has to fix
   */
  run(this: void, args: readonly string[], commands: Commands): Promise<number | undefined>;
  /** What the first argument may be, where that is one of a few words. */
  readonly words?: (this: void, commands: Commands) => readonly string[];
}

export interface CommandEntry {
  /** A line of `crier help`. */
  readonly summary: string;
  /** Loads only this command: help and errors are quick. */
  readonly load: () => Promise<Command>;
}

export type Commands = Readonly<Record<string, CommandEntry>>;

/** A repeatable option is a list. */
type Options = NonNullable<ParseArgsConfig['options']>;

/** @throws UsageError for unknown options, options without a value, and more positionals than `maxPositionals` */
export function readArguments<const T extends Options>(
  command: string,
  args: readonly string[],
  { options, maxPositionals = 0 }: { readonly options: T; readonly maxPositionals?: number },
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: boolean }>> {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
    const extra = parsed.positionals[maxPositionals];
    if (extra === undefined) return parsed;
    const { topic } = parsed.values as { readonly topic?: unknown };
    const isTopic = Object.hasOwn(options, 'topic') && topic === undefined && maxPositionals > 0;
    throw new Error(
      `unexpected argument "${extra}"; ${isTopic ? `write --topic ${extra}` : takes(command, maxPositionals)}`,
    );
  } catch (error) {
    throw new UsageError(`${problemOf(error as Error, options, command)}; see crier ${command} --help`, {
      cause: error,
    });
  }
}

function takes(command: string, count: number): string {
  if (count === 0) return `crier ${command} takes none`;
  return `crier ${command} takes ${count === 1 ? 'one' : count}, in quotes if it has spaces`;
}

/** Options that other programs have, and what the command is in crier. */
const COMMANDS: Readonly<Record<string, string>> = {
  watch: 'dev, which serves a changed graph at once',
  reload: 'dev, which serves a changed graph at once',
  version: 'version',
};

/** Node's message of an unknown option explains how to pass it as a positional. */
function problemOf({ code, message }: Error & { code?: string }, options: Options, command: string): string {
  const [, unknown] = (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && /'(-[^']*)'/.exec(message)) || [];
  if (unknown === undefined) return message;
  const names = [...Object.keys(options), 'help', ...Object.keys(COMMANDS)].map((name) => `--${name}`);
  const whole = /^-\w$/.test(unknown) ? names.find((name) => name.startsWith(`-${unknown}`)) : undefined;
  const instead = COMMANDS[unknown.slice(2)];
  const setting = unknown.replace(/^-+/, '').replaceAll('-', '_').toUpperCase();
  const fix = Object.hasOwn(variables, setting)
    ? `; ${setting} is a setting, an environment variable: ${setting}=… crier ${command}`
    : instead !== undefined
      ? `; the command is crier ${instead}`
      : whole !== undefined
        ? `; did you mean "${whole}"?`
        : didYouMean(unknown, names);
  return `unknown option ${JSON.stringify(unknown)}${fix}`;
}

/**
 * One of the words that a command takes.
 * @throws UsageError that proposes the word that is meant
 */
export function oneWord<const Word extends string>(words: readonly Word[], given: string | undefined): Word {
  const word = words.find((one) => one === given);
  if (word !== undefined) return word;
  const got = given === undefined ? '' : `, got ${JSON.stringify(given)}${didYouMean(given, words)}`;
  throw new UsageError(`expected one of ${words.join(', ')}${got}`);
}

/** @throws UsageError unless the text is a whole number from 1 */
export function positiveInteger(option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${option}: expected a whole number, at least 1, got ${JSON.stringify(text)}`);
}

/** Values of `--header`. @throws UsageError unless each is `name: value` */
export function readHeaders(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? [];
      if (name !== undefined && value !== undefined) return [name, value];
      throw new UsageError(`--header: expected "name: value", got ${JSON.stringify(text)}`);
    }),
  );
}
