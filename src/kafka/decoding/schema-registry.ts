import type { SettingNames } from '../../config/setting-names.ts';
import type { SchemaReference } from './decoder.ts';
import { ApicurioRegistry } from './apicurio-registry.ts';
import { ForeignSchemaError, SchemaUnavailableError, UnusableSchemaError } from './schema-errors.ts';
import type { RegistryRequests } from './registry-requests.ts';
import type { ApicurioId, RegistryId } from './wire-format.ts';

export type SchemaType = 'AVRO' | 'PROTOBUF' | 'JSON';

/** A schema with everything that it refers to. */
export interface RegisteredSchema {
  readonly type: SchemaType;
  readonly text: string;
  /** A schema comes after those that it refers to. */
  readonly references: readonly SchemaReference[];
}

/** The fields of an answer that count here. */
interface Answer {
  readonly schemaType: SchemaType;
  readonly schema: string;
  readonly references: readonly { readonly name: string; readonly subject: string; readonly version: number }[];
}

export const SCHEMA_TYPES: readonly unknown[] = ['AVRO', 'PROTOBUF', 'JSON'];
/** Types of Avro that JSON Schema does not have. */
const AVRO_TYPES: readonly unknown[] = ['record', 'error', 'enum', 'fixed', 'map'];
/** Of one schema, with those of its references. */
const MAX_REFERENCES = 200;

type Requests = Pick<RegistryRequests, 'get' | 'getText' | 'isApicurio'>;

/** Reads schemas from a registry with the API of Confluent. Keeps none: the decoders that are made of them are kept. */
export class SchemaRegistry {
  readonly #requests: Requests;
  readonly #names: SettingNames;
  readonly #apicurio: ApicurioRegistry;
  /** One request for each id at a time. */
  readonly #running = new Map<RegistryId, Promise<RegisteredSchema | undefined>>();

  constructor(requests: Requests, names: SettingNames) {
    this.#requests = requests;
    this.#names = names;
    this.#apicurio = new ApicurioRegistry(requests, MAX_REFERENCES);
  }

  /** True if the registry has the ids of Apicurio. */
  get isApicurio(): boolean {
    return this.#requests.isApicurio;
  }

  /**
   * undefined: the registry does not know the id.
   * @throws SchemaUnavailableError, UnusableSchemaError; ForeignSchemaError if registries of this kind have no such ids
   */
  schema(id: RegistryId): Promise<RegisteredSchema | undefined> {
    let running = this.#running.get(id);
    if (!running) {
      running = this.#schema(id).finally(() => this.#running.delete(id));
      this.#running.set(id, running);
    }
    return running;
  }

  /** The newest schema of a subject; undefined: there is none. @throws SchemaUnavailableError, UnusableSchemaError */
  async latest(subject: string): Promise<RegisteredSchema | undefined> {
    const found = await this.#requests.get(`/subjects/${encodeURIComponent(subject)}/versions/latest`);
    if (found === undefined) return undefined;
    const { id } = Object(found) as { readonly id?: unknown };
    if (!Number.isSafeInteger(id)) throw this.#ofAnotherServer();
    // The answer for an id has the type, which registries leave out here.
    return this.schema(id as number);
  }

  async #schema(id: RegistryId): Promise<RegisteredSchema | undefined> {
    if (typeof id === 'number') return this.#read(`/schemas/ids/${id}`);
    if (id.startsWith('guids/')) return this.#read(`/schemas/${id}`);
    if (id.startsWith('subjects/')) return this.latest(id.slice('subjects/'.length));
    if (!this.#requests.isApicurio)
      throw new ForeignSchemaError(
        `it is named as by Apicurio, and ${this.#names.SCHEMA_REGISTRY_URL} does not end in /apis/ccompat/v7`,
      );
    const found = await this.#apicurio.schema(id as ApicurioId);
    return found && { type: typeOf(found.text), ...found };
  }

  async #read(path: string): Promise<RegisteredSchema | undefined> {
    const answer = this.#answerOf(await this.#requests.get(path));
    if (!answer) return undefined;
    const references = new Map<string, SchemaReference>();
    await this.#collect(answer, references, new Set());
    return { type: answer.schemaType, text: answer.schema, references: [...references.values()] };
  }

  /** Adds the references of an answer, those of references first. */
  async #collect({ references }: Answer, collected: Map<string, SchemaReference>, entered: Set<string>): Promise<void> {
    for (const { name, subject, version } of references) {
      if (entered.has(name)) continue;
      entered.add(name);
      if (entered.size > MAX_REFERENCES) throw new UnusableSchemaError(`it has more than ${MAX_REFERENCES} references`);
      // As Confluent's clients: a reference stays valid when its subject is deleted.
      const path = `/subjects/${encodeURIComponent(subject)}/versions/${version}?deleted=true`;
      const answer = this.#answerOf(await this.#requests.get(path));
      if (!answer) throw new UnusableSchemaError(`the registry has no version ${version} of ${subject}, its reference`);
      await this.#collect(answer, collected, entered);
      collected.set(name, { name, text: answer.schema });
    }
  }

  #answerOf(json: unknown): Answer | undefined {
    if (json === undefined) return undefined;
    const { schema, schemaType = 'AVRO', references = [] } = Object(json) as Record<string, unknown>;
    if (typeof schema !== 'string' || !Array.isArray(references) || !references.every(isReference))
      throw this.#ofAnotherServer();
    if (!SCHEMA_TYPES.includes(schemaType)) throw new UnusableSchemaError(`its type is ${JSON.stringify(schemaType)}`);
    return { schema, schemaType: schemaType as SchemaType, references };
  }

  /** Something before the registry, or another service at its URL, may answer with JSON, too. */
  #ofAnotherServer(): SchemaUnavailableError {
    const { SCHEMA_REGISTRY_URL } = this.#names;
    return new SchemaUnavailableError(`${SCHEMA_REGISTRY_URL} answers with JSON that is no schema; correct it`);
  }
}

/** Apicurio's own API names no type. */
function typeOf(text: string): SchemaType {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'PROTOBUF';
  }
  if (typeof json === 'string' || Array.isArray(json)) return 'AVRO';
  const { type } = Object(json) as { readonly type?: unknown };
  return AVRO_TYPES.includes(type) ? 'AVRO' : 'JSON';
}

function isReference(value: unknown): value is Answer['references'][number] {
  const { name, subject, version } = Object(value) as Record<string, unknown>;
  return typeof name === 'string' && typeof subject === 'string' && Number.isSafeInteger(version);
}
