/** What a person runs after `crier init`. */
export interface NextCommands {
  readonly sample: string;
  readonly tail: string;
  readonly live: string;
  readonly types: string;
}

const WORD = /^[\w@%+=:,./-]+$/;

/** @param hasSchema true: the records have schemas of a registry */
export function nextCommands(folder: string, subscription: string, hasSchema: boolean): NextCommands {
  const registry = hasSchema ? ' SCHEMA_REGISTRY_URL=http://localhost:8081' : '';
  return {
    // Empty: a file .env may name servers.
    sample: `KAFKA_BROKERS= REDIS_URL= npx --no-install crier dev ${quoted(folder)}`,
    tail: `npx --no-install crier tail ${quoted(subscription)}`,
    live: `KAFKA_BROKERS=localhost:9092 REDIS_URL=redis://localhost:6379${registry} npx --no-install crier start ${quoted(folder)}`,
    types: `npx --no-install crier codegen ${quoted(folder)}`,
  };
}

/** As a word of a POSIX shell. */
function quoted(text: string): string {
  return WORD.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
