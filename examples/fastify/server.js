import { createServer } from 'crier';
import fastify from 'fastify';
import { graph } from './graph.js';

const crier = await createServer({ graph, listen: false });

const app = fastify();
app.get('/health', () => 'ok');
app.all('/graphql', (request, reply) => {
  // crier answers: Fastify has read the body already.
  reply.hijack();
  crier.handleRequest(request.raw, reply.raw, request.body);
});
crier.attach(app.server);
console.log(`${await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' })}/graphql`);

// Only for this example: without Kafka the records come from here.
let n = 0;
setInterval(() => crier.publish('ticks', { value: { n: ++n } }), 500).unref();

process.once('SIGTERM', async () => {
  const closed = app.close();
  await crier.close();
  await closed;
});
