/**
 * One backend of `context.backends`. Bodies are JSON; a path starts with "/". The functions do not need `this`. The type of a response is what
 * the caller says; an empty one is null.
 */
export interface Backend {
  /** Resolves to null for status 404. */
  readonly get: <Body = unknown>(path: string, options?: BackendRequestOptions) => Promise<Body | null>;
  readonly post: <Body = unknown>(path: string, body?: unknown, options?: BackendRequestOptions) => Promise<Body>;
  readonly put: <Body = unknown>(path: string, body?: unknown, options?: BackendRequestOptions) => Promise<Body>;
  readonly patch: <Body = unknown>(path: string, body?: unknown, options?: BackendRequestOptions) => Promise<Body>;
  readonly delete: <Body = unknown>(path: string, options?: BackendRequestOptions) => Promise<Body>;
}

export interface BackendRequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
}
