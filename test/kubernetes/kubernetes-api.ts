import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';

/** An object of Kubernetes. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string; readonly controller?: boolean }[];
}

export interface Reply<Body> {
  readonly status: number;
  /** A Status object with a `message`, if the request was refused. */
  readonly body: Body & { readonly message?: string };
}

interface Access {
  readonly port: number;
  /** The certificate of the API server. */
  readonly ca: string;
  readonly token: string;
}

const TIMEOUT_MS = 10_000;
/** Owner of the fields that `apply` sets. */
const FIELD_MANAGER = 'crier-test';

/** A client of a Kubernetes API server on loopback. */
export class KubernetesApi {
  readonly #access: Access;
  /** By `apiVersion kind`. */
  readonly #resources = new Map<string, { readonly name: string; readonly namespaced: boolean }>();

  constructor(access: Access) {
    this.#access = access;
  }

  async send<Body>(method: string, path: string, body?: object, type = 'application/json'): Promise<Reply<Body>> {
    const { port, ca, token } = this.#access;
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type };
      const options = { host: '127.0.0.1', port, ca, method, path, headers, signal: AbortSignal.timeout(TIMEOUT_MS) };
      const sent = request(options, resolve);
      sent.once('error', reject);
      sent.end(body && JSON.stringify(body));
    });
    const answer = await text(reply);
    const isJson = reply.headers['content-type'] === 'application/json';
    return {
      status: reply.statusCode!,
      body: (isJson ? JSON.parse(answer) : { message: answer }) as Reply<Body>['body'],
    };
  }

  /** @throws Error with the server's message unless the request succeeds. */
  async get<Body>(path: string): Promise<Body> {
    return succeeded(await this.send<Body>('GET', path), path);
  }

  /** @throws Error with the server's message unless the request succeeds. */
  async post<Body>(path: string, body: object): Promise<Body> {
    return succeeded(await this.send<Body>('POST', path, body), path);
  }

  /** @throws Error with the server's message unless the request succeeds. */
  async patch<Body>(path: string, body: object): Promise<Body> {
    return succeeded(await this.send<Body>('PATCH', path, body, 'application/merge-patch+json'), path);
  }

  /** Server-side apply, as `kubectl apply --server-side --validate=strict` does: a field that does not exist is refused. */
  async apply(object: KubernetesObject): Promise<Reply<KubernetesObject>> {
    const query = `fieldManager=${FIELD_MANAGER}&fieldValidation=Strict`;
    return this.send('PATCH', `${await this.pathOf(object)}?${query}`, object, 'application/apply-patch+yaml');
  }

  /** The path of an object. @throws Error for a kind that the server does not know. */
  async pathOf({ apiVersion, kind, metadata }: KubernetesObject): Promise<string> {
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const key = `${apiVersion} ${kind}`;
    if (!this.#resources.has(key)) {
      interface Resources {
        readonly resources: readonly { name: string; kind: string; namespaced: boolean }[];
      }
      const { resources } = await this.get<Resources>(group);
      for (const one of resources.filter(({ name }) => !name.includes('/')))
        this.#resources.set(`${apiVersion} ${one.kind}`, one);
    }
    const resource = this.#resources.get(key);
    if (!resource) throw new Error(`the API server has no ${key}`);
    const namespace = resource.namespaced ? `/namespaces/${metadata.namespace}` : '';
    return `${group}${namespace}/${resource.name}/${metadata.name}`;
  }
}

/** The body. @throws Error with the server's message unless the request succeeded. */
export function succeeded<Body>({ status, body }: Reply<Body>, what: string): Body {
  if (status >= 300) throw new Error(`${what}: ${status} ${body.message}`);
  return body;
}
