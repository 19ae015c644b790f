import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';

/** The same object with other values: what facts must never be. For negative twins. */
export class ChangingFacts implements ConnectionFacts {
  current: ConnectionFacts;

  constructor(facts: ConnectionFacts) {
    this.current = facts;
  }

  get id() {
    return this.current.id;
  }

  get headers() {
    return this.current.headers;
  }

  get params() {
    return this.current.params;
  }

  get claims() {
    return this.current.claims;
  }

  get address() {
    return this.current.address;
  }
}
