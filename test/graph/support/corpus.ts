import { GraphQLError, GraphQLScalarType } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { makeExecutable } from '../../../src/graph/execution/executable.ts';
import { attachResolvers } from '../../../src/graph/schema/resolvers.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../../../src/graph/schema/schema.ts';

/** What `loadGraph` makes of these files, without files. */
export function schemaOf(sdl: string, resolvers: Record<string, unknown> = {}): GraphQLSchema {
  const { schema, problems } = buildGraphSchema(sdl, 'schema.graphql');
  const attached = attachResolvers(schema, resolvers, 'resolvers.ts');
  const { bindings, problems: mistakes } = parseBindings(schema, attached.customSources);
  const all = [...problems, ...attached.problems, ...mistakes];
  if (all.length > 0) throw new Error(all.join('\n'));
  const client = withoutOwnDefinitions(schema);
  makeExecutable(client, bindings);
  return client;
}

export const CORPUS_SDL = `
  extend schema @crier(keys: KEEP)
  type Subscription {
    auction(id: ID!, status: Status): Auction @kafka(topic: "t", match: [{ arg: "id", path: "auction.id" }], payload: "auction")
    strict(id: ID): Auction! @kafka(topic: "t", payload: "auction")
    whole: Whole @kafka(topic: "t")
    node: Node @kafka(topic: "t", payload: "node")
    event: Event @kafka(topic: "t", payload: "event")
    events: [Event!] @kafka(topic: "t", payload: "events")
    doubled: Int @kafka(topic: "t", payload: "auction.count")
  }
  type Query { auction: Auction echo(x: String, y: Int = 5, z: Status = OPEN, f: Filter, p: Plain, l: [Int!], d: Day): String crier: Int }
  type Whole { auction: Auction events: [Event] node: Node }
  interface Node { id: ID! title: String }
  type Auction implements Node {
    id: ID! title: String count: Int! price: Float is_open: Boolean status: Status day: Day
    matrix: [[Int]] strict_matrix: [[Int!]!] tags: [String!] strict_tags: [String!]! lots: [Lot!] maybe_lots: [Lot]
    lot: Lot parent: Auction self: Auction!
    seller: Seller seller_async: Seller seller_required: Seller! sellers: [Seller] sellers_async: [Seller!]
    fails: String fails_async: String fails_graphql: String fails_required: Int! fails_string: String fails_nothing: String
    returns_error: String echo(x: String, y: Int = 5, z: Status = OPEN, f: Filter, p: Plain, l: [Int!], d: Day): String
    writes(f: Filter = { c: [1] }, p: Plain = {}, l: [Int!] = [1]): String
    constructor: String toString: String length: Int broken_day: Day promised_list: [String] generated: [Int] broken_list: [Int]
    info_path: String union_async: Event ints: [Int]
  }
  type Lot implements Node { id: ID! title: String lot_no: Int! auction: Auction }
  type Seller { name: String! nick: String lazy: String method(x: Int): String friends: [Seller!]! late: String rating: Float }
  union Event = Auction | Lot
  enum Status { OPEN CLOSED }
  scalar Day
  input Plain { a: Int = 3 t: [Int!] = [1] b: [String!] c: Day s: Status! = CLOSED q: Inner }
  input Inner { m: [[Int]!] id: ID }
  input Filter { a: Int b: String = "default" c: [Int!] n: Filter s: Status }
`;

class SellerObject {
  readonly rating = 4.5;
  readonly nick: string | null;
  constructor(nick: string | null = null) {
    this.nick = nick;
  }
  get name(): string {
    return 'Ann';
  }
  get late(): Promise<string> {
    return Promise.resolve('late');
  }
  lazy(): Promise<string> {
    return Promise.reject(new Error('pg://user:pass@db failed'));
  }
  method({ x }: { x?: number }): string {
    return `method ${x ?? 'none'}`;
  }
  friends(): SellerObject[] {
    return this.nick === null ? [new SellerObject('friend')] : [];
  }
}

const echo = (_: unknown, args: object) => JSON.stringify(args);
const writes = (_: unknown, args: { f: { a?: number; c?: number[] }; p: { t: number[] }; l: number[] }) => {
  const { f, p, l } = args;
  f.a = (f.a ?? 0) + 1;
  for (const list of [f.c, p.t, l]) list?.push(list.length);
  return JSON.stringify(args);
};
const resolveType = (value: { lot_no?: unknown; id?: unknown }) => (value.lot_no === undefined ? 'Auction' : 'Lot');

export const corpusResolvers = {
  Day: new GraphQLScalarType({
    name: 'Day',
    serialize: (value) => {
      if (typeof value !== 'number') throw new Error('pg://user:pass@db failed');
      return value < 0 ? undefined : `day ${value}`;
    },
    parseValue: (value) => `parsed ${String(value)}`,
    parseLiteral: (node) => ('value' in node ? `literal ${String(node.value)}` : null),
  }),
  Node: { __resolveType: resolveType },
  Event: {
    __resolveType: (value: { lot_no?: unknown; id?: unknown; kind?: string }) => {
      if (value.kind === 'throw') throw new Error('pg://user:pass@db failed');
      if (value.kind === 'promise') return Promise.resolve('Lot');
      return value.kind ?? resolveType(value);
    },
  },
  Subscription: { doubled: (value: number) => value * 2 },
  Query: { auction: () => ({ id: 1, count: 1 }), echo },
  Auction: {
    echo,
    writes,
    seller: () => new SellerObject(),
    seller_async: async () => Promise.resolve(new SellerObject()),
    seller_required: (auction: { seller?: unknown }) => auction.seller ?? null,
    sellers: () => [
      new SellerObject('a'),
      Promise.reject(new Error('pg://user:pass@db failed')),
      null,
      Promise.resolve(new SellerObject('b')),
    ],
    sellers_async: async () => Promise.resolve([new SellerObject('a'), Promise.resolve(new SellerObject('b'))]),
    fails: () => {
      throw new Error('pg://user:pass@db failed');
    },
    fails_async: async () => Promise.reject(new Error('pg://user:pass@db failed')),
    fails_graphql: () => {
      throw new GraphQLError('told', { extensions: { code: 'TOLD', more: [1] } });
    },
    fails_required: async () => Promise.reject(new Error('pg://user:pass@db failed')),
    fails_string: () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw 'pg://user:pass@db failed';
    },
    fails_nothing: () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw undefined;
    },
    returns_error: () => new Error('pg://user:pass@db failed'),
    broken_day: () => 'no day',
    promised_list: () => ['a', Promise.resolve('b'), Promise.reject(new Error('pg://user:pass@db failed')), 'c'],
    *generated() {
      yield 1;
      yield 2;
    },
    *broken_list() {
      yield 1;
      throw new Error('pg://user:pass@db failed');
    },
    info_path: (
      _: unknown,
      __: unknown,
      ___: unknown,
      info: { fieldName: string; parentType: { name: string }; path: { key: string | number } },
    ) => `${info.parentType.name}.${info.fieldName} at ${info.path.key}`,
    union_async: async (auction: { event?: unknown }) => Promise.resolve(auction.event),
  },
};
