import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answer of a registry. */
export interface RegistryAnswer {
  readonly status: number;
  readonly body: string;
}

export interface RegistryProxy {
  /** A value for SCHEMA_REGISTRY_URL. */
  readonly url: string;
  /** By path, such as `/schemas/ids/7`; `none`: the request stays open. The registry answers for all other paths. */
  readonly answers: Map<string, RegistryAnswer | 'none'>;
}

/** Starts a proxy of a schema registry on loopback, stopped at the end. */
export async function registryProxy(t: { after(fn: () => void): void }, registry: string): Promise<RegistryProxy> {
  const answers = new Map<string, RegistryAnswer | 'none'>();
  const server = createServer((request, response) => {
    const path = request.url!;
    void (async () => {
      const answer = answers.get(path) ?? (await answerOf(`${registry}${path}`));
      if (answer === 'none') return;
      const { status, body } = answer;
      response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' }).end(body);
    })();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers };
}

async function answerOf(url: string): Promise<RegistryAnswer> {
  const response = await fetch(url);
  return { status: response.status, body: await response.text() };
}
