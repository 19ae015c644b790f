import { hash } from 'node:crypto';
import { ConfigError } from '../../base/errors.ts';
import { turnPause } from '../../base/turn-pause.ts';
import { WatchedFile } from '../../base/watched-file.ts';
import { bareId, parseManifest } from './document-manifest.ts';
import { TRUSTED_LIMITS } from './document-reader.ts';
import type { DocumentReader } from './document-reader.ts';

/** A document that the graph cannot run. */
export interface UnusableDocument {
  readonly id: string;
  /** Of the first error. */
  readonly reason: string;
}

export interface TrustedDocumentsOptions {
  /** What TRUSTED_DOCUMENTS is called. */
  readonly setting: string;
  readonly path: string;
  readonly reader: Pick<DocumentReader, 'read'>;
  /** Called after each change of the file: with a reason if the file is refused, and so changes nothing. */
  readonly onChange?: (refusal: string | undefined, documents: TrustedDocuments) => void;
  /** Default: 2000. */
  readonly pollIntervalMs?: number | undefined;
}

interface Manifest {
  /** By id, and by the SHA-256 of the text. */
  readonly texts: ReadonlyMap<string, string>;
  readonly size: number;
  readonly unusable: readonly UnusableDocument[];
}

/** A manifest with the documents of very large applications has a few megabytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Time in ms for documents in one turn of the event loop, at a start and at a change; at least one document is read. */
const SLICE_MS = 5;

/**
 * The documents of a manifest, which are trusted because their authors are: they come from the builds of the team's own clients. The file
 * is read again when it changes; a bad one changes nothing.
 */
export class TrustedDocuments {
  readonly #setting: string;
  readonly #file: WatchedFile<Manifest>;
  readonly #onChange: TrustedDocumentsOptions['onChange'];

  constructor({ setting, path, reader, onChange, pollIntervalMs }: TrustedDocumentsOptions) {
    this.#setting = setting;
    this.#onChange = onChange;
    this.#file = new WatchedFile({
      path,
      maxBytes: MAX_FILE_BYTES,
      parse: (text) => readManifest(text, reader),
      intervalMs: pollIntervalMs,
    });
  }

  /** Count of documents. */
  get size(): number {
    return this.#file.value?.size ?? 0;
  }

  /** True while the file is not accepted, so that the documents before it apply. */
  get isRejected(): boolean {
    return this.#file.failure !== undefined;
  }

  /** Documents that the graph cannot run. A request for one receives its errors. */
  get unusable(): readonly UnusableDocument[] {
    return this.#file.value?.unusable ?? [];
  }

  /** @throws ConfigError for a bad or missing file */
  async start(): Promise<this> {
    await this.#file.read();
    const { failure } = this.#file;
    if (failure) {
      const expected = 'expected a JSON file with documents by id, such as { "<SHA-256>": "query …" }';
      throw new ConfigError(`${this.#setting}: ${failure.message}; ${expected}`);
    }
    this.#file.watch(() => this.#onChange?.(this.#file.failure?.message, this));
    return this;
  }

  /** Idempotent, safe before the start. */
  close(): Promise<void> {
    this.#file.close();
    return Promise.resolve();
  }

  /** @param id of the manifest, or the SHA-256 of a text in hex; both with or without the prefix `sha256:` */
  textOf(id: string): string | undefined {
    return this.#file.value?.texts.get(bareId(id));
  }
}

/** Tries each document, so that a mistake is known before the first client needs the document. */
async function readManifest(text: string, reader: Pick<DocumentReader, 'read'>): Promise<Manifest> {
  const pause = turnPause(SLICE_MS);
  const byId = await parseManifest(text, pause);
  const texts = new Map(byId);
  const unusable: UnusableDocument[] = [];
  for (const [id, document] of byId) {
    await pause();
    texts.set(hash('sha256', document), document);
    const result = reader.read(document, TRUSTED_LIMITS);
    if ('errors' in result) unusable.push({ id, reason: result.errors[0]!.message });
  }
  if (unusable.length === byId.size) {
    const [{ id, reason }] = unusable as [UnusableDocument];
    throw new Error(`this graph can run none of its ${byId.size} documents; of ${id}: ${reason}`);
  }
  return { texts, size: byId.size, unusable };
}
