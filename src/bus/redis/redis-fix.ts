import { certificateFix } from '../../base/certificate-fix.ts';
import type { SettingNames } from '../../config/setting-names.ts';

type Names = Pick<SettingNames, 'REDIS_URL' | 'REDIS_USERNAME' | 'REDIS_PASSWORD' | 'REDIS_TLS_CA_FILE'>;

/** By what the server, ioredis or Node says of a failed connection: the mend. */
const FIXES: readonly (readonly [reason: RegExp, fix: (names: Names) => string])[] = [
  [/^NOAUTH/, ({ REDIS_PASSWORD }) => `the server expects a password: set ${REDIS_PASSWORD}`],
  [
    /^WRONGPASS|invalid password/,
    ({ REDIS_USERNAME, REDIS_PASSWORD, REDIS_URL }) =>
      `correct ${REDIS_USERNAME} and ${REDIS_PASSWORD}, or those in ${REDIS_URL}`,
  ],
  [/^NOPERM/, () => 'grant this user the rights that crier check names'],
  [
    /DB index is out of range/,
    ({ REDIS_URL }) => `the server has no such database: correct its number in ${REDIS_URL}`,
  ],
  [
    /unknown command '?sentinel/i,
    ({ REDIS_URL }) => `no Sentinel is there: write redis:// before a server in ${REDIS_URL}`,
  ],
  [/Protocol error/, ({ REDIS_URL }) => `no Redis answers there: correct host and port in ${REDIS_URL}`],
];

/**
 * What fixes a connection to Redis; '': its reason does not say.
 * @param reason message of the failure
 * @param isTls whether the URL asks for TLS
 */
export function redisFix(reason: string, isTls: boolean, names: Names): string {
  const [, fix] = FIXES.find(([pattern]) => pattern.test(reason)) ?? [];
  if (fix) return fix(names);
  const ofCertificate = certificateFix(reason, 'the server', names.REDIS_URL, names.REDIS_TLS_CA_FILE);
  if (ofCertificate !== '') return ofCertificate;
  if (isTls && /ETIMEDOUT|wrong version|disconnected before secure/.test(reason))
    return `if the server has no TLS, write redis:// in ${names.REDIS_URL}`;
  if (!isTls && /ECONNRESET|closed/i.test(reason))
    return `if the server uses TLS, write rediss:// in ${names.REDIS_URL}; else correct host and port: no Redis answers there`;
  return '';
}
