import { defineConfig } from 'vite';

const crier = { target: process.env.CRIER_URL ?? 'http://localhost:4000', ws: true };

export default defineConfig({
  server: {
    // One origin for the page and crier, as a reverse proxy makes it in production.
    proxy: { '/graphql': crier },
    // The plan of the city is beside the graph.
    fs: { allow: ['..', '../../..'] },
  },
  // The client is linked from the clone, where there is a second graphql-ws.
  resolve: { dedupe: ['graphql-ws'] },
});
