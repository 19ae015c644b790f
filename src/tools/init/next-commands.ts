import { mayHoldPassword } from '../../config/setting-refusal.ts';
import { fileVariable } from '../../config/settings.ts';
import type { CommandEnvironment } from '../environment.ts';

/** What a person runs after `crier init`. */
export interface NextCommands {
  readonly sample: string;
  readonly tail: string;
  readonly live: string;
  readonly types: string;
}

const WORD = /^[\w@%+=:,./-]+$/;

/** Of a Kafka, a Redis and a registry that run beside the project. */
const LOCAL = {
  KAFKA_BROKERS: 'localhost:9092',
  REDIS_URL: 'redis://localhost:6379',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
} as const;

/**
 * @param hasSchema true: the records have schemas of a registry
 * @param given what the file .env has is not repeated, because the environment would override it
 */
export function nextCommands(
  folder: string,
  subscription: string,
  hasSchema: boolean,
  given: CommandEnvironment,
): NextCommands {
  const servers = Object.entries(LOCAL).filter(([name]) => hasSchema || name !== 'SCHEMA_REGISTRY_URL');
  const settings = servers.map(([name, local]) => assignment(name, local, given)).join('');
  return {
    // Empty: a file .env may name servers.
    sample: `KAFKA_BROKERS= REDIS_URL= npx --no-install crier dev ${quoted(folder)}`,
    tail: `npx --no-install crier tail ${quoted(subscription)}`,
    live: `${settings}npx --no-install crier start ${quoted(folder)}`,
    types: `npx --no-install crier codegen ${quoted(folder)}`,
  };
}

/** `NAME=value `, with the value of the environment; '' where the file .env has it, or where it is not to be shown. */
function assignment(name: string, local: string, { environment, fromFile }: CommandEnvironment): string {
  if ([name, fileVariable(name)].some((one) => fromFile.includes(one)) || environment[fileVariable(name)]) return '';
  const value = environment[name] || local;
  return mayHoldPassword(value, false) ? '' : `${name}=${quoted(value)} `;
}

/** As a word of a POSIX shell. */
function quoted(text: string): string {
  return WORD.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
