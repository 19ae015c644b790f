import type { Lock, Package } from './packages.ts';

/** Where the archives and the bill of materials of a release are. */
export const RELEASE_FOLDER = 'dist/release';

/** What the steps of one release share. */
export class Release {
  readonly isDryRun: boolean;
  readonly lock: Lock;
  /** The server first. */
  readonly packages: readonly Package[];
  /** What only the owner of the project can do, from the steps of a dry run. */
  readonly left: string[] = [];
  /** Of the local registry, once it runs. */
  registry = '';
  readonly #cleanups: (() => Promise<unknown>)[] = [];

  constructor(isDryRun: boolean, lock: Lock, packages: readonly Package[]) {
    this.isDryRun = isDryRun;
    this.lock = lock;
    this.packages = packages;
  }

  get version(): string {
    return this.packages[0]!.manifest.version;
  }

  /** `@crier` */
  get scope(): string {
    return this.packages[0]!.manifest.name.split('/')[0]!;
  }

  /** A dry run passes without this, and names it at the end. @throws Error in a release that is published */
  leaveToOwner(what: string): void {
    if (!this.isDryRun) throw new Error(what);
    this.left.push(what);
  }

  after(cleanup: () => Promise<unknown>): void {
    this.#cleanups.push(cleanup);
  }

  /** Ends what the steps started, the last first. */
  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
  }
}

/** What is wrong, as the message of a step: a line for each. @throws Error unless there is nothing */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
