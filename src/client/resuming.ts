import type { Client, ClientOptions } from 'graphql-ws/client';

type Subscribe = Client['subscribe'];
type Payload = Parameters<Subscribe>[0];
type Replacer = NonNullable<ClientOptions['jsonMessageReplacer']>;

/** What is sent in place of a payload, by the object that graphql-ws was given. */
export interface Resumptions {
  readonly register: (payload: Payload, onSend: () => Payload) => void;
  /** For the messages of the client. Only a message that is sent comes here: an application may read its payload as it likes. */
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
 * graphql-ws's `subscribe` that says where to go on, each time its message is sent again. Before the first event nothing can be
 * proved: the server is told null, and answers `resumed: false`.
 *
 * A server that is without Redis refuses a subscription with BUS_UNAVAILABLE: it is asked again after `waitMs`.
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
    const own = { ...payload };
    register(own, () => {
      if (isSent) return { ...payload, extensions: { ...payload.extensions, resume: { cursor } } };
      isSent = true;
      return payload;
    });
    let leave: () => void;
    const start = () => {
      leave = client.subscribe<never, never>(own, {
        next: (result) => {
          refusals = 0;
          // Before the sink sees it: one that throws must not get the same event again for ever.
          cursor = cursorOf(result.extensions);
          sink.next(result);
        },
        error: (problem) => (isPassing(problem) ? wait() : sink.error(problem)),
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

/** Whether an operation's errors say that it may be tried again. */
function isPassing(problem: unknown): boolean {
  const errors = Array.isArray(problem) ? (problem as { extensions?: { code?: unknown } }[]) : [];
  return errors.some(({ extensions }) => extensions?.code === 'BUS_UNAVAILABLE');
}
