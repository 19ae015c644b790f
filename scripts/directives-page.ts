import { parse, print } from 'graphql';
import { OWN_DIRECTIVES } from '../src/graph/schema/own-directives.ts';

const HEADER = `# The directives that crier adds to every schema, for editors: docs/reference/graph.md#editors.
# Written by \`npm run docs:directives\`.
`;

/** The text of directives.graphql. */
export function directivesPage(): string {
  return `${HEADER}\n${print(parse(OWN_DIRECTIVES))}\n`;
}
