import type { Config } from '../../config/config.ts';
import { gluePackageFile } from '../../config/glue-package.ts';
import type { SchemaRegistrySettings } from '../../config/schema-registry-problems.ts';
import type { Logger } from '../../base/log.ts';
import { loadGlueClient } from './glue-client.ts';
import { GlueRegistry } from './glue-registry.ts';
import { openRegistryRequests } from './registry-access.ts';
import { SchemaRegistry } from './schema-registry.ts';

type RegistriesConfig = SchemaRegistrySettings & Pick<Config, 'SCHEMA_REGISTRY_TIMEOUT_MS' | 'GRAPH'>;

/** Where the schemas of records are. */
export interface Registries {
  /** undefined: the settings name none. */
  readonly registry: SchemaRegistry | undefined;
  /** undefined: AWS's SDK is not installed. */
  readonly glue: GlueRegistry | undefined;
  /** Idempotent. */
  close(): Promise<void>;
}

/** The registries that can be asked until they are closed. @throws ConfigError as `openRegistryRequests` */
export async function openRegistries(config: RegistriesConfig, log: Logger): Promise<Registries> {
  const hasRegistry = config.SCHEMA_REGISTRY_URL.length > 0;
  const requests = hasRegistry ? await openRegistryRequests(config, log) : undefined;
  const glueFile = gluePackageFile(config.GRAPH);
  const glue =
    glueFile === undefined
      ? undefined
      : new GlueRegistry({ load: () => loadGlueClient(glueFile), timeoutMs: config.SCHEMA_REGISTRY_TIMEOUT_MS });
  return {
    registry: requests && new SchemaRegistry(requests, config.names),
    glue,
    close: async () => {
      glue?.close();
      await requests?.close();
    },
  };
}
