import { USE_GLUE } from '../config/glue-package.ts';
import { MAX_RECORD_DEPTH } from '../config/limits.ts';
import type { SettingNames } from '../config/setting-names.ts';
import type { PoisonReason, RecordContent } from './batch.ts';
import { signatureOf } from './decoding/record-signature.ts';

/** Why a record is poison, for log, `/readyz` and commands. */
export interface UndecodableReason {
  /** The reason, and what the record is: `invalid_utf8: gzip data`. */
  readonly why: string;
  /** What to look at first. */
  readonly fix: string;
}

const fixesOf = (names: SettingNames): Partial<Record<PoisonReason, string>> => ({
  needs_registry: `set ${names.SCHEMA_REGISTRY_URL} (these records name their schema by its id in a registry), and leave out format: JSON`,
  no_schema_id:
    'correct the format in @kafka (these records have no id of a schema), or name the subject whose newest schema they have (subject)',
  unknown_schema: `correct ${names.SCHEMA_REGISTRY_URL} (this registry does not know their schemas)`,
  unusable_schema: "the log says why the registry's schema cannot be used",
  other_format: 'correct the format in @kafka, or leave it out',
  not_envelope:
    'correct the envelope in @kafka: the values of these records are not what it says; remove it if a record is the row itself, or bring one of yours in envelopes.ts',
  not_own_format: 'correct the decoder in formats.ts, or the topic: the log has what the decoder threw',
  too_large: `raise ${names.MAX_RECORD_BYTES}`,
  too_deep: `nest the records at most ${MAX_RECORD_DEPTH} levels deep`,
  batch_too_large: `raise ${names.MAX_INFLIGHT_BYTES}`,
  batch_corrupt: 'the batch that a producer wrote cannot be read',
  unsupported_record_format: 'Kafka before 0.11 has written these records: have a producer write them again',
});

export function undecodableReason(
  reason: PoisonReason,
  content: Pick<RecordContent, 'value' | 'headers'>,
  names: SettingNames,
): UndecodableReason {
  const { found, fix, fixOf = reason } = signatureOf(reason, content) ?? {};
  const otherFix = `correct the topic or the format in @kafka, or ${names.SCHEMA_REGISTRY_URL}`;
  return {
    why: found === undefined ? reason : `${reason}: ${found}`,
    fix: fix ?? fixesOf(names)[fixOf] ?? otherFix,
  };
}

/** What makes a record's key readable. @param problem why a key with a schema cannot be decoded; undefined: the key has none */
export function keyFix(problem: string | undefined, { SCHEMA_REGISTRY_URL }: SettingNames): string {
  switch (problem) {
    case undefined:
      return 'write keys as text, JSON or with a schema (in Kafka Connect, key.converter), or add state: {} to fields that match a path';
    case 'needs_registry':
      return `the key names its schema by its id in a registry: set ${SCHEMA_REGISTRY_URL}, or for AWS Glue ${USE_GLUE}`;
    case 'unknown_schema':
      return `correct ${SCHEMA_REGISTRY_URL}, or of AWS Glue the region or the account: this registry does not know the key's schema. A binary key, such as a long, may begin like one with a schema: then write keys as text`;
    case 'unusable_schema':
      return "the log says why the key's schema cannot be used";
    default:
      return 'its bytes are not what its schema says (windowed keys of ksqlDB and Kafka Streams have more, and longs none): write other keys, or add state: {} to fields that match a path';
  }
}
