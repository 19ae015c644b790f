import type { Config } from '../../config/config.ts';
import { withoutQuery } from '../../config/setting-refusal.ts';
import { fetchKeys } from '../../gateway/identity/remote-key-set.ts';
import { failed, ok } from './finding.ts';
import type { Finding } from './finding.ts';

type TokenKeysConfig = Pick<Config, 'AUTH' | 'JWT_JWKS_URL' | 'ROLE'>;

/** Fetches the keys of tokens as a gateway does at its start. Takes a few seconds at most. */
export async function checkTokenKeys({ AUTH: auth, JWT_JWKS_URL: urls, ROLE: role }: TokenKeysConfig) {
  if (auth === 'none' || role === 'worker') return [];
  return Promise.all(urls.map(checkKeySet));
}

async function checkKeySet(url: string): Promise<Finding> {
  const name = `JWT_JWKS_URL: ${withoutQuery(url)}`;
  try {
    const { keys } = await fetchKeys(url, new AbortController().signal);
    return ok(`${name} has ${keys.length} key${keys.length === 1 ? '' : 's'}`);
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return failed(`${name} cannot be used: ${reason}; correct the URL, or let the pod reach it`);
  }
}
