import { Kind } from 'graphql';
import type { ASTNode, Location, Token } from 'graphql';
import { textWeight } from '../../base/json/weight.ts';

const BYTES_PER_NODE = 32;
const BYTES_PER_MEMBER = 8;
const BYTES_PER_LIST = 48;
/** A `Location`. */
const BYTES_PER_LOCATION = 64;
/** A `Token` and the text of its name or value. The tokens of a document keep each other, including punctuation and comments. */
const BYTES_PER_TOKEN = 192;
/** Compiled code of a field: 32 KB for 85 fields. */
const COMPILED_BYTES_PER_FIELD = 384;

/**
 * Estimated memory of a parsed document and of its compiled code, in bytes; rather too high. Nodes that documents share are frozen and not
 * counted.
 */
export function documentWeight(document: ASTNode): number {
  let bytes = sourceWeight(document.loc);
  const left: unknown[] = [document];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') bytes += textWeight(next);
    else if (Object.isFrozen(next)) continue;
    else if (Array.isArray(next)) {
      bytes += BYTES_PER_LIST + next.length * BYTES_PER_MEMBER;
      for (const item of next) left.push(item);
    } else if (typeof next === 'object' && next !== null) {
      bytes += BYTES_PER_NODE;
      if ((next as ASTNode).kind === Kind.FIELD) bytes += COMPILED_BYTES_PER_FIELD;
      for (const [key, member] of Object.entries(next)) {
        bytes += BYTES_PER_MEMBER;
        if (key === 'loc') bytes += BYTES_PER_LOCATION;
        // Names of node kinds are the same strings for all nodes.
        else if (key !== 'kind') left.push(member);
      }
    }
  }
  return bytes;
}

/** Estimated memory of what the locations of a document refer to: its text and its tokens. */
function sourceWeight(location: Location | undefined): number {
  if (!location) return 0;
  let bytes = textWeight(location.source.body);
  for (let token: Token | null = location.startToken; token; token = token.next) bytes += BYTES_PER_TOKEN;
  return bytes;
}
