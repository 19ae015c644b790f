import { createRequire } from 'node:module';
import { SetupError } from '../../../base/errors.ts';

/** The version whose internals this folder patches, and raw-cluster.ts, sasl.ts and subscription-assigner.ts call. */
const KNOWN_VERSION = '2.2.4';

/** @throws SetupError if another version of kafkajs is installed: its internals may differ. */
export function requireKnownKafkajs(version = installedVersion()): void {
  if (version === KNOWN_VERSION) return;
  throw new SetupError(
    `kafkajs ${version} is installed, but crier patches internals of kafkajs ${KNOWN_VERSION}: ` +
      `run npm install --save-exact kafkajs@${KNOWN_VERSION}, or check src/kafka/client against ${version} and name it in known-version.ts`,
  );
}

function installedVersion(): string {
  const { version } = createRequire(import.meta.url)('kafkajs/package.json') as { version: string };
  return version;
}
