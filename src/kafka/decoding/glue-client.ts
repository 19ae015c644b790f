import { errorOf } from '../../base/errors.ts';
import { requireFile } from '../../base/project-packages.ts';
import { GLUE_PACKAGE, INSTALL_GLUE } from '../../config/glue-package.ts';

/** The answer for a schema version, as far as crier reads it. */
export interface SchemaVersion {
  readonly SchemaDefinition?: string;
  readonly DataFormat?: string;
}

/** What crier uses of the package. */
interface GlueSdk {
  readonly GlueClient: new (options: object) => {
    readonly config: { readonly region: () => Promise<string>; readonly credentials: () => Promise<object> };
    send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<SchemaVersion>;
    destroy(): void;
  };
  readonly GetSchemaVersionCommand: new (input: { readonly SchemaVersionId: string }) => object;
}

export interface GlueClient {
  /** Looks for region and credentials. Rejects if there are none. */
  setUp(): Promise<void>;
  schemaVersion(id: string, abortSignal: AbortSignal): Promise<SchemaVersion>;
  close(): void;
}

/**
 * Loads AWS's SDK. Region, credentials and endpoint are those that it finds: https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
 * @throws Error with the command that installs it again
 */
export function loadGlueClient(file: string): GlueClient {
  const { GlueClient: Client, GetSchemaVersionCommand } = loadSdk(file);
  const client = new Client({});
  return {
    setUp: async () => {
      await client.config.region();
      await client.config.credentials();
    },
    schemaVersion: (SchemaVersionId, abortSignal) =>
      client.send(new GetSchemaVersionCommand({ SchemaVersionId }), { abortSignal }),
    close: () => client.destroy(),
  };
}

function loadSdk(file: string): GlueSdk {
  try {
    return requireFile(file) as GlueSdk;
  } catch (error) {
    const [reason] = errorOf(error).message.split('\n', 1);
    throw new Error(`${GLUE_PACKAGE} cannot be loaded: ${reason}; install it again: ${INSTALL_GLUE}`, { cause: error });
  }
}
