import { createGraphTopics, readTopics } from './topics.ts';

/** `node dist/stack/create-topics.js`: creates the topics of the graph folder $GRAPH on $KAFKA_BROKERS (docker-compose.yml). */
const graph = process.env['GRAPH'] || 'examples/auction';
const brokers = process.env['KAFKA_BROKERS'] || '127.0.0.1:9092';
const topics = await readTopics(graph);
if (!topics) throw new Error(`GRAPH: expected a folder with a schema.graphql, got ${JSON.stringify(graph)}`);
await createGraphTopics(brokers, topics);
process.stdout.write(`topics on ${brokers}: ${topics.map(({ name }) => name).join(', ')}\n`);
