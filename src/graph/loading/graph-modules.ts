import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { GraphError } from '../../base/errors.ts';
import { PACKAGE_ROOT, moduleUrl } from './compile.ts';
import type { GraphModules, ModuleVersion } from './module-hooks.ts';

const UNSUPPORTED =
  'the modules of a graph folder cannot be loaded here, because module.register is refused, as in Jest; import the modules in the test and ' +
  'give them with the text of schema.graphql to defineGraph, or run the test with node:test or Vitest';

/**
 * Makes the compiled modules of a graph importable, each version of them under URLs of its own: Node keeps every module that it has imported,
 * under its URL. Node cannot unload hooks either, so there is one instance of them for the life of a graph's folder.
 */
export class ImportableModules {
  readonly #folder: string;
  #port: MessagePort | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Resolves when the modules can be imported from `moduleUrl(file, version)`.
   * @param version undefined: the first one, whose modules have the plain URLs of their files
   * @throws GraphError where the module loader of the process cannot be extended, as in Jest
   */
  async add(sources: Readonly<Record<string, string>>, version: string | undefined): Promise<void> {
    const urls = Object.entries(sources).map(([file, code]) => [moduleUrl(file, version), code] as const);
    const added: ModuleVersion = { version, sources: Object.fromEntries(urls) };
    if (!this.#port) return this.#register(added);
    const port = this.#port;
    const acknowledged = new Promise((resolve) => port.once('message', resolve));
    port.ref();
    port.postMessage(added);
    await acknowledged;
    port.unref();
  }

  #register(first: ModuleVersion): void {
    const { port1, port2 } = new MessageChannel();
    const manifest = join(PACKAGE_ROOT, 'package.json');
    const packageUrl = pathToFileURL(manifest).href;
    const { name: packageName } = JSON.parse(readFileSync(manifest, 'utf8')) as { name: string };
    const data: GraphModules = { first, packageUrl, packageName, port: port2 };
    // The query makes the URL of this instance unique.
    const hooks = new URL('./module-hooks.js', import.meta.url);
    hooks.search = new URLSearchParams({ folder: this.#folder }).toString();
    try {
      register(hooks, { data, transferList: [port2] });
    } catch (error) {
      port1.close();
      throw new GraphError(`${this.#folder}: ${UNSUPPORTED}`, { cause: error });
    }
    this.#port = port1;
    port1.unref();
  }
}
