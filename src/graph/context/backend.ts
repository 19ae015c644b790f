/** One backend of `context.backends`. Bodies are JSON; a path starts with "/". The functions do not need `this`. */
export interface Backend {
  /** Resolves to null for status 404. */
  readonly get: (path: string, options?: BackendRequestOptions) => Promise<unknown>;
  readonly post: (path: string, body?: unknown, options?: BackendRequestOptions) => Promise<unknown>;
  readonly put: (path: string, body?: unknown, options?: BackendRequestOptions) => Promise<unknown>;
  readonly patch: (path: string, body?: unknown, options?: BackendRequestOptions) => Promise<unknown>;
  readonly delete: (path: string, options?: BackendRequestOptions) => Promise<unknown>;
}

export interface BackendRequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
}
