import { BOOL, flag } from './variable.ts';
import { forwardingProblem } from './forwarded-headers.ts';
import { refusal } from './setting-refusal.ts';
import type { SettingNames } from './setting-names.ts';
import type { SettingsInput } from './settings-input.ts';
import type { Environment } from './variable.ts';
import { backendVariable } from './backend-settings.ts';
import type { BackendConfig, BackendInput } from './backend-settings.ts';

export function backendsIn(environment: Environment): BackendInput[] {
  return Object.entries(environment).flatMap(([variable, URL]) => {
    const name = /^BACKEND_([A-Z0-9_]+)_URL$/.exec(variable)?.[1];
    if (!name || !URL) return [];
    const FORWARD_AUTHORIZATION = environment[`BACKEND_${name}_FORWARD_AUTHORIZATION`] || 'false';
    return [
      { name, URL, FORWARD_AUTHORIZATION, FORWARD_HEADERS: environment[`BACKEND_${name}_FORWARD_HEADERS`] ?? '' },
    ];
  });
}

/** The backends by `backendVariable(name)`. Adds a line to `problems` for each setting that is refused. */
export function readBackends({ backends, names }: SettingsInput, problems: string[]): Map<string, BackendConfig> {
  const read = new Map<string, BackendConfig>();
  for (const backend of backends) {
    const { name, URL: url } = backend;
    if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      problems.push(refusal(names.backend(name, 'URL'), url, 'an http:// or https:// URL'));
      continue;
    }
    read.set(backendVariable(name), { url, forwardedHeaders: forwardedHeaders(backend, names, problems) });
  }
  return read;
}

function forwardedHeaders(backend: BackendInput, names: SettingNames, problems: string[]): string[] {
  const { FORWARD_AUTHORIZATION: forward } = backend;
  const ofAuthorization = names.backend(backend.name, 'FORWARD_AUTHORIZATION');
  const isForwarded = flag(forward);
  if (!isForwarded) problems.push(refusal(ofAuthorization, forward, BOOL));
  const headers = new Set(isForwarded?.value ? ['authorization'] : []);
  for (const item of backend.FORWARD_HEADERS.split(',')) {
    const header = item.trim().toLowerCase();
    if (header === '') continue;
    const problem = forwardingProblem(header, ofAuthorization, names);
    if (problem !== undefined) problems.push(`${names.backend(backend.name, 'FORWARD_HEADERS')}: ${problem}`);
    headers.add(header);
  }
  return [...headers];
}
