import { commands } from './commands.ts';
import { settingGroupRows } from '../config/setting-rows.ts';
import type { SettingRow } from '../config/setting-rows.ts';

const USAGE = `crier: GraphQL subscriptions from Kafka topics, over WebSockets, SSE and multipart.

Usage: crier [start [<graph folder>]] [options]      starts the server
       crier <command> [--help]

Commands:
  start           starts the server; so does no command
  dev             starts it, and reloads the graph when a file of its folder changes
COMMANDS
Options:
  --check-config  tries the settings, the graph, TRUSTED_DOCUMENTS, TUNABLES_FILE, the key sets of JWT_JWKS_URL, Kafka and Redis, prints what
                  it finds, and exits with 0, or 1 after a failure
  -h, --help      prints this text
  -v, --version   prints the version

Without KAFKA_BROKERS and REDIS_URL everything runs embedded in this process, fed by the graph's sample records. With
NODE_ENV=production, EMBEDDED=true must ask for that.
Settings are environment variables.
`;

/** The text that `--help` prints. */
export function help(): string {
  const settings = Array.from(settingGroupRows(), ([title, rows]) => `\n${title}:\n${rows.map(line).join('')}`);
  const entries = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(14)}  ${summary}\n`);
  return `${USAGE.replace('COMMANDS\n', () => `${entries.join('')}\n`)}${settings.join('')}`;
}

function line({ name, default: fallback, unit, meaning }: SettingRow): string {
  const value = fallback === '' ? 'not set' : `${fallback}${unit === '' ? '' : ` ${unit}`}`;
  return `  ${name.padEnd(32)} ${meaning} Default: ${value}.\n`;
}
