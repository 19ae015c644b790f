import type { Settings } from './settings.ts';

type RedisAccessSettings = Pick<
  Settings,
  | 'REDIS_URL'
  | 'REDIS_USERNAME'
  | 'REDIS_PASSWORD'
  | 'REDIS_CREDENTIALS'
  | 'REDIS_TLS_CA_FILE'
  | 'REDIS_TLS_CERT_FILE'
  | 'REDIS_TLS_KEY_FILE'
  | 'REDIS_TLS_KEY_PASSPHRASE'
  | 'names'
>;

/** The credentials may hold a `/`, which ends the authority of a URL: then Redis refuses them. */
const URL_WITH_CREDENTIALS = /^[^:]+:\/\/[^/?#]*@/;
const URL_WITH_TLS = /^rediss/;

/** A line for each pair of settings about access to Redis that contradict each other, and for each that lacks another. */
export function redisAccessProblems(settings: RedisAccessSettings): string[] {
  const { names } = settings;
  const present = (settingsOf: readonly Exclude<keyof RedisAccessSettings, 'names'>[]) =>
    settingsOf.filter((name) => settings[name] !== '').map((name) => names[name]);
  const login = present(['REDIS_USERNAME', 'REDIS_PASSWORD', 'REDIS_CREDENTIALS']);
  const files = present(['REDIS_TLS_CA_FILE', 'REDIS_TLS_CERT_FILE', 'REDIS_TLS_KEY_FILE']);
  const { REDIS_URL: url } = settings;
  const given = [...login, ...files];
  if (given.length > 0 && url === '') return [`${names.REDIS_URL}: expected with ${given.join(' and ')}, got none`];
  return [...loginProblems(settings, login), ...fileProblems(settings, files)];
}

function loginProblems(settings: RedisAccessSettings, given: readonly string[]): string[] {
  const { REDIS_URL: url, REDIS_USERNAME: user, REDIS_PASSWORD: password, REDIS_CREDENTIALS: hook, names } = settings;
  const problems: string[] = [];
  if (password !== '' && hook !== '')
    problems.push(`${names.REDIS_PASSWORD} and ${names.REDIS_CREDENTIALS}: expected one of them, got both; unset one`);
  if (user !== '' && password === '' && hook === '')
    problems.push(
      `${names.REDIS_PASSWORD} or ${names.REDIS_CREDENTIALS}: expected one of them with ${names.REDIS_USERNAME}, got none`,
    );
  if (given.length > 0 && URL_WITH_CREDENTIALS.test(url))
    problems.push(
      `${given.join(' and ')}: expected none, because ${names.REDIS_URL} has a user or a password; remove it from the URL`,
    );
  return problems;
}

function fileProblems(settings: RedisAccessSettings, given: readonly string[]): string[] {
  const { REDIS_URL: url, REDIS_TLS_CERT_FILE: certificate, REDIS_TLS_KEY_FILE: key, names } = settings;
  const problems: string[] = [];
  if ((certificate === '') !== (key === ''))
    problems.push(`${names.REDIS_TLS_CERT_FILE} and ${names.REDIS_TLS_KEY_FILE}: expected both or none`);
  if (settings.REDIS_TLS_KEY_PASSPHRASE !== '' && key === '')
    problems.push(`${names.REDIS_TLS_KEY_FILE}: expected with ${names.REDIS_TLS_KEY_PASSPHRASE}, got none`);
  if (given.length > 0 && !URL_WITH_TLS.test(url))
    problems.push(`${names.REDIS_URL}: expected rediss:// with ${given.join(' and ')}, got a URL without TLS`);
  return problems;
}
