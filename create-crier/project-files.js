import { basename, resolve } from 'node:path';

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "strict": true,
    "verbatimModuleSyntax": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true
  },
  "include": ["graph"]
}
`;

const README = `# NAME

A server of GraphQL subscriptions from Kafka topics, with crier.

    npm install
    npm run dev

Then open <http://localhost:4000/>. A change of graph/ is served at once. Without KAFKA_BROKERS and REDIS_URL the records come from graph/samples.ts. With them,
in the environment or in a file .env, those of the topic:

    KAFKA_BROKERS=localhost:9092
    REDIS_URL=redis://localhost:6379

Without a Kafka and a Redis of your own: \`GRAPH=<this folder>/graph npm run stack\` in a clone of crier starts both.

\`npm start\` is for production: it does not watch the graph. \`npm run check\` tries the settings, the graph, Kafka and Redis, and starts nothing.
\`npx --no-install crier help\` lists the commands, \`npx --no-install crier settings\` the settings.
`;

const SCHEMA = `# A type for what your records are, and a subscription that a topic feeds.

type Subscription {
  "The updates of one order; without order_id, those of all orders."
  order_updated(order_id: ID): Order
    @kafka(topic: "orders", match: [{ arg: "order_id", path: "order.order_id" }], payload: "order")
}

# A record {"order":{"orderId":"7","totalCents":1250}} has order_id and total_cents: keys become snake_case.
type Order {
  order_id: ID!
  status: String
  total_cents: Int
  updated_at: String
}
`;

const SAMPLES = `// Records of the topic, as producers would write them to Kafka. crier plays them while KAFKA_BROKERS is not set.
const STATUSES = ['PLACED', 'PAID', 'SHIPPED', 'DELIVERED'];

export function* records(seed: number) {
  for (let i = seed; ; i++) {
    const order = {
      orderId: String(1 + (i % 5)),
      status: STATUSES[Math.floor(i / 5) % STATUSES.length],
      totalCents: 1000 + (i % 5) * 250,
      updatedAt: new Date().toISOString(),
    };
    yield { topic: 'orders', key: order.orderId, value: { order } };
  }
}

export const operation = 'subscription { order_updated { order_id status total_cents updated_at } }';
`;

/**
 * The files of every project, by path.
 * @param {string} folder
 * @param {Readonly<Record<string, string>>} dependencies
 * @returns {Readonly<Record<string, string>>}
 */
export function projectFiles(folder, dependencies) {
  const name = packageName(basename(resolve(folder)));
  const manifest = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    scripts: { start: 'crier start graph', dev: 'crier dev graph', check: 'crier check graph' },
    dependencies,
  };
  return {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'README.md': README.replace('NAME', () => name),
    'tsconfig.json': TSCONFIG,
    '.gitignore': 'node_modules/\n.env\n',
  };
}

/** A graph with sample records, by path. */
export function starterGraph() {
  return { 'graph/schema.graphql': SCHEMA, 'graph/samples.ts': SAMPLES };
}

/** @param {string} text */
function packageName(text) {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, 100);
  return name || 'crier-app';
}
