import DataLoader from 'dataloader';
import type { Backend } from '../graph/context/backend.ts';

const MAX_BATCH = 200;

/** A DataLoader whose `prime` ignores undefined, so that the key is loaded. A value that is null is primed. */
export class PrimedLoader<Key, Value> extends DataLoader<Key, Value> {
  override prime(key: Key, value: Value | PromiseLike<Value> | Error | undefined): this {
    return value === undefined ? this : super.prime(key, value);
  }
}

/**
 * Loads many keys with one request to a backend, `POST <path>/batch {"ids":[…]}`, which is answered with the objects by id. An absent id
 * loads as null. At most 200 ids are in a request.
 *
 *     export const createLoaders = (context) => Proxy.lazy({ seller_by_id: byId(context, 'seller', '/sellers') });
 */
export function byId<Key extends string | number, Value>(
  context: { readonly backends: Readonly<Record<string, Backend>> },
  backend: string,
  path: string,
): PrimedLoader<Key, Value | null> {
  return new PrimedLoader<Key, Value | null>(
    async (ids) => {
      // Read late: a loader that only serves primed objects opens no backend.
      const found = await context.backends[backend]!.post<Record<string, Value> | null>(`${path}/batch`, { ids });
      return ids.map((id) => (found && Object.hasOwn(found, id) ? found[String(id)]! : null));
    },
    { maxBatchSize: MAX_BATCH },
  );
}
