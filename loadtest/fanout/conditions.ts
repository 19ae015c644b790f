import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { canPin } from '../pinning.ts';

const PACKAGES = [
  'node_modules/ws',
  'node_modules/graphql',
  'node_modules/graphql-ws',
  'node_modules/graphql-redis-subscriptions',
  'loadtest/node_modules/mercurius',
];

/** What a reader must know beside the figures. `packages`: folders of those whose version matters. */
export function conditionsOf(packages: readonly string[] = PACKAGES): Record<string, string | number | boolean> {
  return {
    date: new Date().toISOString().slice(0, 16),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    pinned: canPin ? 'server on one core; client, publisher and Redis on another' : 'no',
    ...Object.fromEntries(packages.map((folder) => [folder.replace(/^.*node_modules\//, ''), versionOf(folder)])),
  };
}

function versionOf(folder: string): string {
  try {
    return (JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { version: string }).version;
  } catch {
    return 'not installed';
  }
}
