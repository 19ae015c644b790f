/** Names that other programs and libraries give to what a setting of crier is, and what to set instead. */
const OTHER_NAMES: readonly (readonly [names: RegExp, instead: string])[] = [
  [
    /^KAFKA_(URLS?|HOSTS?|PORT|SERVERS?|(METADATA_)?BROKERS?_(URLS?|LIST)|BOOTSTRAP(_BROKERS?|_SERVERS?)?)$/,
    'KAFKA_BROKERS',
  ],
  [/^KAFKA_(SSL|TLS|USE_SSL|USE_TLS)(_ENABLED)?$|^KAFKA_SECURITY_PROTOCOL$/, 'KAFKA_TLS'],
  [/^KAFKA_(SSL_|TLS_)?CA(_CERT|_LOCATION)?$/, 'KAFKA_TLS_CA_FILE'],
  [/^KAFKA_(SASL_)?(USER|USERNAME|LOGIN)$/, 'KAFKA_SASL_USERNAME'],
  [/^KAFKA_(SASL_)?PASS(WORD)?$/, 'KAFKA_SASL_PASSWORD'],
  [/^KAFKA_(CONSUMER_)?GROUP(_ID)?$/, 'KAFKA_GROUP_ID'],
  [/^KAFKA_(AUTO_)?OFFSET_RESET$/, 'KAFKA_FROM_BEGINNING'],
  [/^KAFKA_(INPUT_)?TOPICS?$/, '@kafka(topic: "…") in schema.graphql'],
  [/^REDIS_(HOST(NAME)?|PORT|ADDR(ESS)?|SERVERS?|NODES|SENTINELS?|CLUSTER|ENDPOINT|DB|DATABASE)$/, 'REDIS_URL'],
  [/^REDIS_(SSL|TLS|USE_TLS)(_ENABLED)?$/, 'REDIS_URL=rediss://…'],
  [/^REDIS_(USER|LOGIN)$/, 'REDIS_USERNAME'],
  [/^REDIS_(PASS|AUTH)$/, 'REDIS_PASSWORD'],
  [/^(KAFKA_)?SCHEMA_REGISTRY(_HOST|_ADDRESS|_URLS|_ENDPOINT)?$/, 'SCHEMA_REGISTRY_URL'],
  [
    /^SCHEMA_REGISTRY_(USER(NAME)?|LOGIN|PASS(WORD)?|BASIC_AUTH\w*|API_(KEY|SECRET))$/,
    'SCHEMA_REGISTRY_URL=https://user:password@…, percent-encoded,',
  ],
  [/^CORS(_(ALLOWED_)?ORIGINS?)?$|^ORIGINS?$/, 'ALLOWED_ORIGINS'],
  [/^(HTTP|SERVER|APP|GRAPHQL)_PORT$/, 'PORT'],
  [/^(METRICS|HEALTH|MANAGEMENT|ADMIN)_PORT$/, 'ADMIN_PORT'],
];

/** `; write KAFKA_BROKERS instead` for what other programs call a setting; '' for every other name. */
export function otherNameFix(name: string): string {
  const [, instead] = OTHER_NAMES.find(([names]) => names.test(name.toUpperCase())) ?? [];
  return instead === undefined ? '' : `; write ${instead} instead`;
}
