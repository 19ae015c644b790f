import { stopSignal } from '../stack/stop-signal.ts';
import { NODE_LINES, testOnNode } from './versions/node-lines.ts';
import type { NodeLine } from './versions/node-lines.ts';

const LINES = Object.keys(NODE_LINES);
const USAGE = `npm run test:node -- <line of Node: ${LINES.join(', ')}> [<folder or file> ...]

Runs the tests of what a line of Node can change, or those that are named, on ${Object.values(NODE_LINES).join(', ')}.
`;

const [line = '', ...names] = process.argv.slice(2);
if (!LINES.includes(line)) {
  process.stdout.write(USAGE);
  process.exit(line === '--help' ? 0 : 1);
}
try {
  await testOnNode(Number(line) as NodeLine, stopSignal(), names);
  process.exit(0);
} catch (error) {
  process.stderr.write(`npm run test:node: ${(error as Error).message}\n`);
  process.exit(1);
}
