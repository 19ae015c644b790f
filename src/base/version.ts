import { existsSync, readFileSync } from 'node:fs';

/** crier's version, as package.json has it, and the revision where the build knows it: `0.1.0+33019c5f06a1`. */
export function readVersion(): string {
  const { version } = JSON.parse(read('../../../package.json')) as { version: string };
  const revision = '../../revision';
  return existsSync(urlOf(revision)) ? `${version}+${read(revision)}` : version;
}

function read(path: string): string {
  return readFileSync(urlOf(path), 'utf8');
}

function urlOf(path: string): URL {
  return new URL(path, import.meta.url);
}
