import { count, list, ms, secret, text } from '../variable.ts';

export const schemaRegistryVariables = {
  SCHEMA_REGISTRY_URL: secret(
    list(
      '',
      'http:// or https:// URLs, separated by commas',
      'Schema registry with the API of Confluent; of several URLs the first that answers. Not set: records are JSON, or of a format of the graph.',
    ),
  ),
  SCHEMA_REGISTRY_USER: text('', 'a user name', 'User of the schema registry, if its URL names none.'),
  SCHEMA_REGISTRY_PASSWORD: secret(text('', 'a password', 'Password of that user.')),
  SCHEMA_REGISTRY_TIMEOUT_MS: ms(100, '3000', 'Longest wait for an answer of the schema registry.'),
  UNDECODABLE_LIMIT: count(
    0,
    '100',
    'records',
    'If the first records of a topic, this many, are all undecodable, the topic is stopped; 0: they go to the dead-letter topic.',
  ),
};
