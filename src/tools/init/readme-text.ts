import type { NextCommands } from './next-commands.ts';

/** The README.md of a graph. */
export function readmeText(name: string, source: string, { sample, tail, live, types }: NextCommands): string {
  return `# ${name}

A graph of crier, written by \`crier init\` from ${source}.

Play the sample records, without Kafka and Redis, and open <http://localhost:4000/>:

    ${sample}

Print events in another terminal:

    ${tail}

Serve the topic, with the addresses of your Kafka and Redis:

    ${live}

Write types.ts, the types for resolvers.ts, once you have one:

    ${types}

| file             | contents                                                                                |
| ---------------- | --------------------------------------------------------------------------------------- |
| \`schema.graphql\` | the types, and the topic that feeds the subscription                                    |
| \`samples.ts\`     | sample records for the first command; look at their values before you share them        |
| \`resolvers.ts\`   | optional: fields that records do not have, such as \`export const Order = { total: (order) => … }\` |
`;
}
