/** Keys of the lists in which GraphiQL's history keeps the headers of each operation. */
const HISTORY = new Set(['graphiql:queries', 'graphiql:favorites']);

/** The storage of the page without the content of the Headers editor: a token must not outlive the page. */
export class HeaderlessStorage {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  get length(): number {
    return this.#storage.length;
  }

  getItem(key: string): string | null {
    return this.#storage.getItem(key);
  }

  setItem(key: string, value: string): void {
    this.#storage.setItem(key, HISTORY.has(key) ? withoutHeaders(value) : value);
  }

  removeItem(key: string): void {
    this.#storage.removeItem(key);
  }

  clear(): void {
    this.#storage.clear();
  }
}

function withoutHeaders(value: string): string {
  return JSON.stringify(JSON.parse(value), (key, inner: unknown) => (key === 'headers' ? undefined : inner));
}
