/** The envelopes of crier, with what they are. A graph may bring others. */
export const RECORD_ENVELOPES: Readonly<Record<string, string>> = {
  CONNECT: 'Rows of Kafka Connect, with or without a schema beside them.',
  DEBEZIUM: "Changes of Debezium's connectors of relational databases: before, after, op.",
  DEBEZIUM_FLAT:
    'Rows that ExtractNewRecordState of Debezium has flattened, with __op and __deleted where they are added.',
  MONGODB: "Changes of Debezium's connector of MongoDB, whose documents are texts.",
  OUTBOX: "Events of Debezium's outbox router: a JSON text, or an object.",
};

/** What of a field's @kafka counts here. */
interface EnvelopedField {
  readonly field: string;
  readonly topics: readonly string[];
  readonly envelope?: string | undefined;
}

/** Why a field contradicts a field before it: all fields of a topic have the same envelope. */
export function envelopeProblem(
  { topics, envelope }: EnvelopedField,
  before: Iterable<EnvelopedField>,
): string | undefined {
  for (const other of before) {
    const topic = topics.find((one) => other.topics.includes(one));
    if (topic === undefined || other.envelope === envelope) continue;
    const written = (one: string | undefined) => (one === undefined ? 'without an envelope' : `with envelope: ${one}`);
    return `reads the topic ${topic} ${written(envelope)}, and Subscription.${other.field} ${written(other.envelope)}; give both the same`;
  }
  return undefined;
}
