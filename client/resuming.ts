import type { Client, ClientOptions } from 'graphql-ws/client';

type Subscribe = Client['subscribe'];
type Payload = Parameters<Subscribe>[0];
type Replacer = NonNullable<ClientOptions['jsonMessageReplacer']>;

/** Replaces registered payloads when their message is sent. The key is the payload object that graphql-ws received. */
export interface Resumptions {
  readonly register: (payload: Payload, onSend: () => Payload) => void;
  /** The client's `jsonMessageReplacer`. It sees only messages that are sent, so the application may stringify its payload. */
  readonly replacer: Replacer;
}

/** @param replacer the application's own */
export function resumptions(replacer?: Replacer): Resumptions {
  const registered = new WeakMap<object, () => Payload>();
  return {
    register: (payload, onSend) => void registered.set(payload, onSend),
    replacer(this: unknown, key, value: unknown) {
      const payload = key === '' && registered.get((value as { payload?: Payload }).payload ?? {})?.();
      const message: unknown = payload ? { ...(value as object), payload } : value;
      return replacer ? (replacer.call(this, key, message) as unknown) : message;
    },
  };
}

/**
 * graphql-ws's `subscribe` that adds the last cursor each time its message is sent again. Before the first event there is no
 * cursor: null is sent, and the server answers `resumed: false`.
 *
 * A server without Redis refuses a subscription with BUS_UNAVAILABLE: it is retried after `waitMs`.
 */
export function resuming(
  client: Pick<Client, 'subscribe'>,
  waitMs: (attempt: number) => number,
  disposed: AbortSignal,
  { register }: Resumptions,
): Subscribe {
  return (payload, sink) => {
    let cursor = cursorOf(payload.extensions?.['resume']);
    let isSent = false;
    let refusals = 0;
    const sent = { ...payload };
    register(sent, () => {
      if (isSent) return { ...payload, extensions: { ...payload.extensions, resume: { cursor } } };
      isSent = true;
      return payload;
    });
    let leave: () => void;
    const start = () => {
      leave = client.subscribe<never, never>(sent, {
        next: (result) => {
          refusals = 0;
          // Set before the sink is called: a sink that throws must not receive the same event forever.
          cursor = cursorOf(result.extensions);
          sink.next(result);
        },
        error: (problem) => (isTransient(problem) ? wait() : sink.error(problem)),
        complete: () => sink.complete(),
      });
    };
    const wait = () => {
      const end = (then: () => void) => {
        clearTimeout(timer);
        disposed.removeEventListener('abort', leave);
        leave = () => undefined;
        then();
      };
      const timer = setTimeout(() => end(start), waitMs(refusals++));
      leave = () => end(() => sink.complete());
      disposed.addEventListener('abort', leave);
    };
    start();
    return () => leave();
  };
}

function cursorOf(value: unknown): unknown {
  return (value as { cursor?: unknown } | null | undefined)?.cursor ?? null;
}

/** True if the errors of an operation permit a retry. */
function isTransient(problem: unknown): boolean {
  const errors = Array.isArray(problem) ? (problem as { extensions?: { code?: unknown } }[]) : [];
  return errors.some(({ extensions }) => extensions?.code === 'BUS_UNAVAILABLE');
}
