import { ACCESS_DIRECTIVES } from '../access/access-directives.ts';
import { PUBLISH_DIRECTIVE } from '../publishing/publish-directive.ts';
import { STATE_DIRECTIVE } from '../state/state-directive.ts';
import { CHANGE_DIRECTIVE } from './change-directive.ts';
import { CRIER_DIRECTIVE } from './crier-directive.ts';
import { KAFKA_DIRECTIVE } from './kafka-directive.ts';
import { RECORD_DIRECTIVE } from './record-directive.ts';
import { REDIS_DIRECTIVE } from './redis-directive.ts';

/** The definitions of crier's directives, which it adds to every graph's schema; `directives.graphql` has them for editors. */
export const OWN_DIRECTIVES =
  CRIER_DIRECTIVE +
  KAFKA_DIRECTIVE +
  REDIS_DIRECTIVE +
  STATE_DIRECTIVE +
  RECORD_DIRECTIVE +
  CHANGE_DIRECTIVE +
  PUBLISH_DIRECTIVE +
  ACCESS_DIRECTIVES;
