import { Kind, print } from 'graphql';
import type { ConstValueNode } from 'graphql';
import { CLAIMS_OF_ONE_TOKEN } from '../context/connection-facts.ts';
import type { Claims } from '../context/connection-facts.ts';
import { valueAt } from '../../base/json/value-at.ts';
import type { Match } from './match.ts';
import { isPath } from './payload-path.ts';

/** One `where` of an @kafka directive: a claim of the connection must equal a value of the payload. */
export interface Where {
  /** Name of the claim; or names, separated by dots, that lead to it. */
  readonly claim: string;
  /** Path in the converted payload, separated by dots. */
  readonly path: string;
}

/** Reads the `where`s of a @kafka that name a claim. */
export function readWhere(
  items: readonly ConstValueNode[],
  match: readonly Match[],
  problems: string[],
): readonly Where[] {
  const all: Where[] = [];
  for (const item of items) {
    const members = new Map(item.kind === Kind.OBJECT ? item.fields.map((part) => [part.name.value, part.value]) : []);
    const claim = members.get('claim');
    const path = members.get('path');
    if (claim?.kind !== Kind.STRING || path?.kind !== Kind.STRING || members.size !== 2) {
      const isConstant = path && !claim;
      problems.push(
        `each where must be { claim: "…", path: "…" } or { arg: "…", path: "…", op: EQ }; got ${print(item)}${isConstant ? '; it compares with an argument or a claim, not with a constant: declare an argument' : ''}`,
      );
      continue;
    }
    if (claim.value.split('.').includes('')) {
      problems.push(
        `where: claim ${JSON.stringify(claim.value)} has an empty name; write names separated by single dots`,
      );
    }
    if (CLAIMS_OF_ONE_TOKEN.includes(claim.value)) {
      problems.push(
        `where: claim "${claim.value}" changes with each token; name one that all tokens of a user have, such as "sub"`,
      );
    }
    if (!isPath(path.value, `where of "${claim.value}": path`, problems)) continue;
    if (all.some((other) => other.path === path.value)) problems.push(`two wheres on path "${path.value}"; keep one`);
    if (match.some((other) => other.path === path.value)) {
      problems.push(
        `match and where are both on path "${path.value}": no subscriber could choose it; remove it from match`,
      );
    }
    all.push({ claim: claim.value, path: path.value });
  }
  return all;
}

/** A claim at this path; a claim whose own name has dots, such as a URL, comes first. */
export function claimAt(claims: Claims, path: string): unknown {
  return Object.hasOwn(claims, path) ? claims[path] : valueAt(claims, path.split('.'));
}
