import type { GraphQLError, GraphQLField } from 'graphql';
import type { Claims, ConnectionFacts } from '../context/connection-facts.ts';
import { answerOf } from '../context/context.ts';
import type { FactTest } from '../context/fact-reads.ts';
import { clientError } from '../../base/errors.ts';

type Field = GraphQLField<unknown, unknown>;

/** A connection must have all scopes of at least one of these sets. `[[]]` is met by every authenticated connection. */
export type ScopeSets = readonly (readonly string[])[];

export type AccessAnswer = 'ALLOWED' | 'UNAUTHENTICATED' | 'FORBIDDEN';

/** Claims that may hold scopes: RFC 8693 and 9068, Microsoft and Okta, others. */
const SCOPE_CLAIMS = ['scope', 'scp', 'scopes'];

/**
 * What the directives of a field demand of a connection. As a `FactTest`: of the claims an execution reads the answer only, so
 * connections with other scopes and the same answer share results.
 */
export class AccessRule implements FactTest {
  readonly name: string;
  readonly #demands: readonly ScopeSets[];

  /** @param demands all of them must be met */
  constructor(demands: readonly ScopeSets[]) {
    this.name = nameOf(demands);
    this.#demands = demands;
  }

  /** A connection is authenticated if it has claims. */
  answer({ claims }: Pick<ConnectionFacts, 'claims'>): AccessAnswer {
    if (Object.keys(claims).length === 0) return 'UNAUTHENTICATED';
    const isMet = (sets: ScopeSets) => sets.some((set) => set.every((scope) => hasScope(claims, scope)));
    return this.#demands.every(isMet) ? 'ALLOWED' : 'FORBIDDEN';
  }

  /**
   * The error for the client if the connection of an execution does not meet the rule.
   * @param what is refused, such as `read "Order.total"`
   */
  refusal(context: unknown, what: string): GraphQLError | undefined {
    const answer = answerOf(context, this) as AccessAnswer;
    if (answer === 'ALLOWED') return undefined;
    return clientError(answer, answer === 'FORBIDDEN' ? `Not allowed to ${what}.` : `Not authenticated to ${what}.`);
  }

  /** Throws the refusal, if there is one. */
  check(context: unknown, what: string): void {
    const refusal = this.refusal(context, what);
    if (refusal) throw refusal;
  }
}

/** Key in the extensions of fields that have a rule. */
const ACCESS_RULE = 'crier.access';

/** What must be met to read a field or, on Subscription, to subscribe to it. The resolvers of an executable schema check the former. */
export function accessRuleOf({ extensions }: Pick<Field, 'extensions'>): AccessRule | undefined {
  return extensions[ACCESS_RULE] as AccessRule | undefined;
}

export function setAccessRule(field: Field, rule: AccessRule): void {
  field.extensions = { ...field.extensions, [ACCESS_RULE]: rule };
}

/** The same for demands that say the same in another order. */
export function nameOf(demands: readonly ScopeSets[]): string {
  const texts = demands.map((sets) => JSON.stringify(sets.map((set) => set.toSorted()).toSorted()));
  const scopes = [...new Set(texts)].filter((text) => text !== '[[]]').toSorted();
  return scopes.length === 0 ? '@authenticated' : scopes.map((text) => `@requiresScopes(scopes: ${text})`).join(' ');
}

/** A scope claim is a string of scopes separated by single spaces, or a list of scopes. */
function hasScope(claims: Claims, scope: string): boolean {
  return SCOPE_CLAIMS.some((name) => {
    const granted = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof granted === 'string') return granted === scope || ` ${granted} `.includes(` ${scope} `);
    return Array.isArray(granted) && granted.includes(scope);
  });
}
