import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly type?: string;
  readonly engines?: { readonly node?: string };
  readonly repository?: { readonly type?: string; readonly url?: string; readonly directory?: string };
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean };
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface Package {
  /** `.` for the server, `client` */
  readonly folder: string;
  readonly manifest: Manifest;
}

export interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** To a workspace of this repository, whose folder is `resolved`. */
  readonly link?: boolean;
  readonly resolved?: string;
}

export interface Lock {
  /** By path: `''`, `client`, `node_modules/ws` */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export async function readLock(): Promise<Lock> {
  return readJson('package-lock.json');
}

/** The packages that are published: the server first. */
export async function readPackages({ packages }: Lock): Promise<Package[]> {
  const linked = Object.values(packages).flatMap(({ link, resolved }) => (link && resolved ? [resolved] : []));
  return Promise.all(
    ['.', ...linked].map(async (folder) => ({ folder, manifest: await readJson(join(folder, 'package.json')) })),
  );
}

/** `crier-server-0.1.0.tgz` */
export function archiveName({ name, version }: Manifest): string {
  return `${name.slice(1).replace('/', '-')}-${version}.tgz`;
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}
