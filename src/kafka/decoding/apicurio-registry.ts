import type { SchemaReference } from './decoder.ts';
import { SchemaUnavailableError, UnusableSchemaError } from './schema-errors.ts';
import type { RegistryRequests } from './registry-requests.ts';
import type { ApicurioId } from './wire-format.ts';

interface ArtifactReference {
  readonly name: string;
  /** Absent: the default group. */
  readonly groupId?: string | null;
  readonly artifactId: string;
  readonly version: string;
}

/** A schema with everything that it refers to: a schema comes after those that it refers to. */
export interface SchemaTexts {
  readonly text: string;
  readonly references: readonly SchemaReference[];
}

/** Reads schemas with version 2 of Apicurio's own API, which its servers of versions 2 and 3 have: Confluent's API has no global ids. */
export class ApicurioRegistry {
  readonly #requests: Pick<RegistryRequests, 'getText'>;
  readonly #maxReferences: number;

  constructor(requests: Pick<RegistryRequests, 'getText'>, maxReferences: number) {
    this.#requests = requests;
    this.#maxReferences = maxReferences;
  }

  /** undefined: the registry does not know the id. @throws SchemaUnavailableError, UnusableSchemaError */
  async schema(id: ApicurioId): Promise<SchemaTexts | undefined> {
    const text = await this.#requests.getText(`/ids/${id}`);
    if (text === undefined) return undefined;
    const references = new Map<string, SchemaReference>();
    await this.#collect(`/ids/${id}`, references, new Set());
    return { text, references: [...references.values()] };
  }

  /** Adds the references of a schema, those of references first. */
  async #collect(path: string, collected: Map<string, SchemaReference>, entered: Set<string>): Promise<void> {
    for (const { name, groupId, artifactId, version } of referencesOf(
      await this.#requests.getText(`${path}/references`),
    )) {
      if (entered.has(name)) continue;
      entered.add(name);
      if (entered.size > this.#maxReferences)
        throw new UnusableSchemaError(`it has more than ${this.#maxReferences} references`);
      const [group, artifact, of] = [groupId ?? 'default', artifactId, version].map(encodeURIComponent);
      const referred = `/groups/${group}/artifacts/${artifact}/versions/${of}`;
      const text = await this.#requests.getText(referred);
      if (text === undefined)
        throw new UnusableSchemaError(`the registry has no version ${version} of ${artifactId}, its reference`);
      await this.#collect(referred, collected, entered);
      collected.set(name, { name, text });
    }
  }
}

/** @throws SchemaUnavailableError if it is no list of references */
function referencesOf(text = '[]'): readonly ArtifactReference[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  if (Array.isArray(json) && json.every(isReference)) return json;
  throw new SchemaUnavailableError('Apicurio answers with something else than references');
}

function isReference(value: unknown): value is ArtifactReference {
  const { name, groupId, artifactId, version } = Object(value) as Record<string, unknown>;
  const isGroup = groupId === undefined || groupId === null || typeof groupId === 'string';
  return typeof name === 'string' && isGroup && typeof artifactId === 'string' && typeof version === 'string';
}
