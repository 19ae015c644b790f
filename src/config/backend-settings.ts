export interface BackendConfig {
  readonly url: string;
  /** Names of the caller's headers that this backend receives, in lower case. `authorization`: the caller's credentials. */
  readonly forwardedHeaders: readonly string[];
}

/** What follows `BACKEND_<NAME>_` in the names of a backend's settings. */
export const BACKEND_SUFFIXES = ['URL', 'FORWARD_AUTHORIZATION', 'FORWARD_HEADERS'] as const;

export type BackendSuffix = (typeof BACKEND_SUFFIXES)[number];

/** The settings of a backend, as they are given. */
export interface BackendInput extends Readonly<Record<BackendSuffix, string>> {
  /** As its settings have it. */
  readonly name: string;
}

/** `consumerListingIntake` → `CONSUMER_LISTING_INTAKE`: how a backend is named in the environment. */
export function backendVariable(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();
}
