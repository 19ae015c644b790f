import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import type { Scope } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';

export interface Post {
  readonly action: 'check' | 'next' | 'complete';
  readonly id: string;
  readonly verifier: string;
  readonly payload?: { readonly data?: unknown; readonly errors?: unknown; readonly extensions?: { cursor?: string } };
  readonly errors?: readonly { readonly message: string; readonly extensions?: Readonly<Record<string, unknown>> }[];
  /** The whole body. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  readonly at: number;
}

/** A subscription that a router has asked for. */
export class CallbackSubscription {
  readonly id: string;
  readonly callbackUrl: string;
  readonly verifier: string;
  /** Posts that the router has accepted. */
  readonly accepted: Post[] = [];
  readonly onAccepted: (post: Post) => void;

  constructor(id: string, callbackUrl: string, verifier: string, onAccepted: (post: Post) => void) {
    this.id = id;
    this.callbackUrl = callbackUrl;
    this.verifier = verifier;
    this.onAccepted = onAccepted;
  }

  /** Payloads so far, in the order in which the router has accepted them. */
  get payloads() {
    return this.accepted.flatMap(({ payload }) => (payload ? [payload] : []));
  }

  get completion(): Post | undefined {
    return this.accepted.find(({ action }) => action === 'complete');
  }

  async next(count: number) {
    await waitFor(`${count} posts`, () => this.payloads.length >= count);
    return this.payloads.slice(0, count);
  }

  async completed(): Promise<Post> {
    await waitFor('the completion', () => this.completion !== undefined);
    return this.completion!;
  }
}

export interface SubscribeOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly variables?: object;
  readonly extensions?: object;
  /** Replaces members of `extensions.subscription`. */
  readonly extension?: Readonly<Record<string, unknown>>;
  readonly id?: string;
  readonly signal?: AbortSignal;
}

/** What the endpoint replied to a request for a subscription. */
export interface Begun {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { data?: unknown; errors?: { message: string; extensions: Record<string, unknown> }[] };
  readonly subscription: CallbackSubscription;
}

const ANSWERS = { check: 204, next: 200, complete: 202 } as const;

/** A router's side of the HTTP callback protocol, over real HTTP, with the rules that Apollo Router has. */
export class CallbackRouter {
  /** Every post, accepted or not. */
  readonly posts: Post[] = [];
  /** The most posts of one subscription that were in flight together. */
  maxAtOnce = 0;
  /** The most posts of all that were in flight together. */
  maxInFlight = 0;
  /** The most connections that were open together. */
  maxConnections = 0;
  /** False: it accepts every verifier, as some routers do. */
  verifies = true;
  /** Decides the status of a post, after the protocol's rules; undefined: they decide. */
  answer: ((post: Post) => number | undefined | Promise<number | undefined>) | undefined;
  readonly #server: Server;
  readonly #key = randomUUID();
  readonly #subscriptions = new Map<string, CallbackSubscription>();
  readonly #inFlight = new Map<string, number>();
  #inFlightOfAll = 0;

  /** Starts a router, and a crier that may post to it. The crier ends first, so that it need not repeat its last posts. */
  static async beside<Crier extends object>(
    scope: Scope,
    startCrier: (url: string) => Promise<Crier>,
  ): Promise<Crier & { readonly router: CallbackRouter }> {
    const router = await CallbackRouter.listen();
    try {
      return { ...(await startCrier(router.url)), router };
    } finally {
      scope.after(() => router.close());
    }
  }

  static async start(scope: Scope, port = 0): Promise<CallbackRouter> {
    const router = await CallbackRouter.listen(port);
    scope.after(() => router.close());
    return router;
  }

  private static async listen(port = 0): Promise<CallbackRouter> {
    const server = createServer();
    const router = new CallbackRouter(server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return router;
  }

  private constructor(server: Server) {
    this.#server = server;
    let open = 0;
    server.on('connection', (socket) => {
      this.maxConnections = Math.max(this.maxConnections, ++open);
      socket.once('close', () => open--);
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#receive(request, response));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/callback`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The router waits for posts with this id from now on. */
  expect(id: string, onAccepted: (post: Post) => void = () => undefined): CallbackSubscription {
    const verifier = createHmac('sha256', this.#key).update(id).digest('hex');
    const subscription = new CallbackSubscription(id, `${this.url}/${id}`, verifier, onAccepted);
    this.#subscriptions.set(id, subscription);
    return subscription;
  }

  /** The router's client has left: further posts get 404. */
  forget({ id }: CallbackSubscription): void {
    this.#subscriptions.delete(id);
  }

  /** Subscribes as a router does. */
  async subscribe(endpoint: string, query: string, options: SubscribeOptions = {}): Promise<Begun> {
    const subscription = this.expect(options.id ?? randomUUID());
    const { id, callbackUrl, verifier } = subscription;
    const extension = { callbackUrl, subscriptionId: id, verifier, heartbeatIntervalMs: 0, ...options.extension };
    const response = await fetch(endpoint, {
      method: 'POST',
      signal: options.signal ?? null,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, application/graphql-response+json, application/json;callbackSpec=1.0',
        ...options.headers,
      },
      body: JSON.stringify({
        query,
        variables: options.variables,
        extensions: { ...options.extensions, subscription: extension },
      }),
    });
    const body = (await response.json()) as Begun['body'];
    return { status: response.status, headers: response.headers, body, subscription };
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const body = JSON.parse(text) as Post & { readonly kind: string };
    const post: Post = { ...body, text, headers: request.headers, at: performance.now() };
    this.posts.push(post);
    const { id } = post;
    const inFlight = (this.#inFlight.get(id) ?? 0) + 1;
    this.#inFlight.set(id, inFlight);
    this.maxAtOnce = Math.max(this.maxAtOnce, inFlight);
    this.maxInFlight = Math.max(this.maxInFlight, ++this.#inFlightOfAll);
    const refused = this.#refusalOf(request, body);
    const status = refused ?? (await this.answer?.(post)) ?? ANSWERS[post.action];
    this.#inFlight.set(id, this.#inFlight.get(id)! - 1);
    this.#inFlightOfAll--;
    if (status < 300) this.#accept(post);
    const headers = post.action === 'check' ? { 'subscription-protocol': 'callback/1.0' } : {};
    response.writeHead(status, { ...headers, ...(status === 307 && { location: `${this.url}/elsewhere` }) }).end();
  }

  #refusalOf({ method, url, headers }: IncomingMessage, { kind, id, verifier }: Post & { readonly kind: string }) {
    if (method !== 'POST') return 405;
    if (kind !== 'subscription' || headers['content-type'] !== 'application/json') return 400;
    if (this.verifies && verifier !== createHmac('sha256', this.#key).update(id).digest('hex')) return 401;
    if (url !== `/callback/${id}`) return 400;
    return this.#subscriptions.has(id) ? undefined : 404;
  }

  #accept(post: Post): void {
    const subscription = this.#subscriptions.get(post.id)!;
    subscription.accepted.push(post);
    subscription.onAccepted(post);
    if (post.action === 'complete') this.#subscriptions.delete(post.id);
  }
}
