import type { Client } from 'graphql-ws/client';

/** graphql-ws's `iterate` over the given `subscribe`. Results are queued until they are requested. */
export function iterating(subscribe: Client['subscribe']): Client['iterate'] {
  return <Data, Extensions>(payload: Parameters<Client['iterate']>[0]) => {
    type Result = Parameters<Parameters<typeof subscribe<Data, Extensions>>[1]['next']>[0];
    const results: Result[] = [];
    let ending: (() => void) | undefined;
    let wake = () => {};
    const end = (how: () => void) => {
      ending ??= how;
      wake();
    };
    const leave = subscribe<Data, Extensions>(payload, {
      next: (result) => {
        results.push(result);
        wake();
      },
      error: (problem) =>
        end(() => {
          throw problem;
        }),
      complete: () => end(() => undefined),
    });
    const iterator = (async function* () {
      for (;;) {
        while (results.length > 0) yield results.shift()!;
        if (ending) return ending();
        await new Promise<void>((resolve) => (wake = resolve));
      }
    })();
    // A generator's own return() would wait for the next result.
    iterator.return = () => {
      results.length = 0;
      leave();
      return Promise.resolve({ done: true, value: undefined });
    };
    return iterator;
  };
}
