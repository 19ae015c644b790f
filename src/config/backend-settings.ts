import { BOOL, flag } from './variable.ts';
import { forwardingProblem } from './forwarded-headers.ts';
import { refusal } from './refusal.ts';
import type { Environment } from './settings.ts';

export interface BackendConfig {
  readonly url: string;
  /** Names of the caller's headers that this backend receives, in lower case. `authorization`: the caller's credentials. */
  readonly forwardedHeaders: readonly string[];
}

/** What follows `BACKEND_<NAME>_` in the names of a backend's settings. */
export const BACKEND_SUFFIXES = ['URL', 'FORWARD_AUTHORIZATION', 'FORWARD_HEADERS'] as const;

/** `consumerListingIntake` → `CONSUMER_LISTING_INTAKE`: how a backend is named in the environment. */
export function backendVariable(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();
}

/** The backends that have a URL, by `backendVariable(name)`. Adds a line to `problems` for each setting that is refused. */
export function readBackends(environment: Environment, problems: string[]): Map<string, BackendConfig> {
  const backends = new Map<string, BackendConfig>();
  for (const [variableName, url] of Object.entries(environment)) {
    const key = /^BACKEND_([A-Z0-9_]+)_URL$/.exec(variableName)?.[1];
    if (!key || !url) continue;
    if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      problems.push(refusal(variableName, url, 'an http:// or https:// URL'));
      continue;
    }
    backends.set(key, { url, forwardedHeaders: forwardedHeaders(key, environment, problems) });
  }
  return backends;
}

function forwardedHeaders(key: string, environment: Environment, problems: string[]): string[] {
  const forward = environment[`BACKEND_${key}_FORWARD_AUTHORIZATION`] || 'false';
  const isForwarded = flag(forward);
  if (!isForwarded) problems.push(refusal(`BACKEND_${key}_FORWARD_AUTHORIZATION`, forward, BOOL));
  const names = new Set(isForwarded?.value ? ['authorization'] : []);
  for (const item of (environment[`BACKEND_${key}_FORWARD_HEADERS`] ?? '').split(',')) {
    const name = item.trim().toLowerCase();
    if (name === '') continue;
    const problem = forwardingProblem(name, key);
    if (problem !== undefined) problems.push(`BACKEND_${key}_FORWARD_HEADERS: ${problem}`);
    names.add(name);
  }
  return [...names];
}
