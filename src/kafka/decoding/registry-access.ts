import type { Config } from '../../config/config.ts';
import type { RegistryAccess } from './registry-requests.ts';

/** The schema registry of the settings. */
export function accessOf(
  config: Pick<
    Config,
    'SCHEMA_REGISTRY_URL' | 'SCHEMA_REGISTRY_USER' | 'SCHEMA_REGISTRY_PASSWORD' | 'SCHEMA_REGISTRY_TIMEOUT_MS' | 'names'
  >,
): RegistryAccess {
  return {
    urls: config.SCHEMA_REGISTRY_URL,
    user: config.SCHEMA_REGISTRY_USER,
    password: config.SCHEMA_REGISTRY_PASSWORD,
    timeoutMs: config.SCHEMA_REGISTRY_TIMEOUT_MS,
    names: config.names,
  };
}
