import type { SettingNames } from './setting-names.ts';
import type { Settings } from './settings.ts';

/** Settings that each name keys of tokens. */
const TOKEN_KEYS = ['JWT_JWKS_URL', 'JWT_SECRET', 'JWT_PUBLIC_KEY'] as const;

type TokenKey = (typeof TOKEN_KEYS)[number];

/** The names of all of them. */
export function anyTokenKey(names: SettingNames): string {
  return TOKEN_KEYS.map((name) => names[name]).join(', ');
}

/** The settings of these that are set. */
export function givenTokenKeys(settings: Pick<Settings, TokenKey>): TokenKey[] {
  return TOKEN_KEYS.filter((name) => settings[name].length > 0);
}

/** True if connections may have tokens. */
export function acceptsTokens(settings: Pick<Settings, 'AUTH' | TokenKey>): boolean {
  return settings.AUTH !== 'none' && givenTokenKeys(settings).length > 0;
}
