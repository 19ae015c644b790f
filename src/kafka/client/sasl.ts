import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';
import type { AuthenticationProviderArgs, Authenticator, Mechanism } from 'kafkajs';
import type { KafkaAccess, KafkaConnectionConfig } from './access/kafka-access.ts';

type AuthenticationProvider = (args: AuthenticationProviderArgs) => Authenticator;

/** Files of kafkajs that it does not export. */
const BUILT_IN = { plain: 'plain', 'scram-sha-256': 'scram256', 'scram-sha-512': 'scram512' } as const;

type PasswordMechanism = keyof typeof BUILT_IN;

/** SASL of RFC 7628 separates by this character; alone it answers a refusal, after which the broker says that the login failed. */
const SEPARATOR = '\u0001';

/** A length, and after it the reason of a refusal. */
const REFUSAL = {
  decode: (bytes: Buffer) => bytes,
  parse: (bytes: Buffer) => bytes.length > 4,
};

/** kafkajs's option `sasl` with credentials that are read at each login: that of a new connection, and each that a broker asks for again. */
export function saslMechanism(config: KafkaConnectionConfig, access: KafkaAccess): Mechanism | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism } = config;
  if (mechanism === '') return undefined;
  if (mechanism === 'oauthbearer') return { mechanism, authenticationProvider: bearerProvider(access) };
  return { mechanism, authenticationProvider: passwordProvider(mechanism, access) };
}

function passwordProvider(mechanism: PasswordMechanism, access: KafkaAccess): AuthenticationProvider {
  const file = `kafkajs/src/broker/saslAuthenticator/${BUILT_IN[mechanism]}`;
  const provide = createRequire(import.meta.url)(file) as (login: object) => AuthenticationProvider;
  return (args) => ({
    authenticate: async () => {
      const login = await credential(mechanism, () => access.login());
      await provide(login)(args).authenticate();
    },
  });
}

/** In place of kafkajs's own, which does not read the broker's answer: a refused token would look accepted, and the next request fail. */
function bearerProvider(access: KafkaAccess): AuthenticationProvider {
  return ({ saslAuthenticate }) => ({
    authenticate: async () => {
      const token = await credential('oauthbearer', () => access.token());
      const exchange = (text: string) =>
        saslAuthenticate<boolean>({ request: { encode: () => lengthPrefixed(text) }, response: REFUSAL });
      try {
        const isRefused = await exchange(`n,,${SEPARATOR}auth=Bearer ${token}${SEPARATOR}${SEPARATOR}`);
        if (isRefused) await exchange(SEPARATOR);
      } catch (error) {
        throw refused('oauthbearer', (error as Error).message);
      }
    },
  });
}

async function credential<Value>(mechanism: string, read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw refused(mechanism, (error as Error).message);
  }
}

function refused(mechanism: string, reason: string): Error {
  return new kafkajs.KafkaJSNonRetriableError(`SASL ${mechanism.toUpperCase()} authentication failed: ${reason}`);
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(`\0\0\0\0${text}`);
  bytes.writeInt32BE(bytes.length - 4, 0);
  return bytes;
}
