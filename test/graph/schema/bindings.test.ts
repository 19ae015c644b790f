import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Source, buildSchema } from 'graphql';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { KAFKA_DIRECTIVE } from '../../../src/graph/schema/kafka-directive.ts';

const TYPES = `
  type Query { q: Int }
  interface Thing { id: ID }
  type Auction implements Thing { id: ID auction_id: Int title: String seller: Seller items: [Item!]! price: Float }
  type Seller { id: ID! }
  type Item { id: ID! }
  type Tagged { tags: [String!]! items: [Item!] }
  type Lot implements Thing { id: ID lot_no: Int }
  union Event = Auction | Lot
  enum Status { OPEN CLOSED }
  input Filter { id: ID }
  scalar Date
`;

function schemaWith(fields: string) {
  return buildSchema(new Source(`type Subscription {\n${fields}\n}\n${TYPES}${KAFKA_DIRECTIVE}`, 'schema.graphql'));
}

function parse(fields: string, customSources: string[] = []) {
  return parseBindings(schemaWith(fields), new Set(customSources));
}

function problemOf(field: string, customSources: string[] = []): string {
  const { problems } = parse(field, customSources);
  assert.equal(problems.length, 1, problems.join('\n'));
  return problems[0]!;
}

describe('binding', () => {
  it('reads topic, matches, payload and shared', () => {
    const { bindings, problems } = parse(`
      auction_updated(auction_id: Int!, status: Status): Auction
        @kafka(topic: "auctions", match: [{ arg: "auction_id", path: "auction.auction_id" }, { arg: "status", path: "meta.status" }], payload: "auction")
      everything: Event @kafka(topic: "all.of-it_1", shared: false)
    `);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      [...bindings.values()],
      [
        {
          field: 'auction_updated',
          topics: ['auctions'],
          format: undefined,
          keys: 'SNAKE',
          match: [
            { arg: 'auction_id', path: 'auction.auction_id', isOptional: false },
            { arg: 'status', path: 'meta.status', isOptional: true },
          ],
          where: [],
          filters: [],
          payload: ['auction'],
          isShared: true,
          history: undefined,
          replaysLast: false,
          state: undefined,
        },
        {
          field: 'everything',
          topics: ['all.of-it_1'],
          format: undefined,
          keys: 'SNAKE',
          match: [],
          where: [],
          filters: [],
          payload: [],
          isShared: false,
          history: undefined,
          replaysLast: false,
          state: undefined,
        },
      ],
    );
  });

  it('reads where on arguments, beside those on claims', () => {
    const { bindings, problems, warnings } = parse(`
      a(min: Float, not: [Status!], tag: String): Auction @kafka(topic: "t", payload: "auction", where: [
        { claim: "tenant", path: "meta.tenant" }
        { arg: "min", path: "auction.price", op: GTE }
        { arg: "not", path: "meta.status", op: IN }
        { arg: "tag", path: "meta.tags", op: CONTAINS }
      ])
      b(tag: String!): Tagged @kafka(topic: "t", where: { arg: "tag", path: "tags", op: CONTAINS })
    `);
    assert.deepEqual([...problems, ...warnings], []);
    assert.deepEqual(bindings.get('a')?.where, [{ claim: 'tenant', path: 'meta.tenant' }]);
    assert.deepEqual(bindings.get('a')?.filters, [
      { arg: 'min', path: 'auction.price', op: 'GTE', comparison: 'number' },
      { arg: 'not', path: 'meta.status', op: 'IN', comparison: 'either' },
      { arg: 'tag', path: 'meta.tags', op: 'CONTAINS', comparison: 'text' },
    ]);
  });

  it('reads matches on the key and on a header of the record', () => {
    const { bindings, problems } = parse(`
      a(id: ID!, tenants: [ID!]): Auction
        @kafka(topic: "t", match: [{ arg: "id", key: true }, { arg: "tenants", header: "tenant" }])
    `);
    assert.deepEqual(problems, []);
    assert.deepEqual(bindings.get('a')?.match, [
      { arg: 'id', path: '.key', isOptional: false },
      { arg: 'tenants', path: '.header "tenant"', isOptional: true },
    ]);
  });

  it('reads matches on paths of the key, which tombstones have', () => {
    const { bindings, problems } = parse(`
      a(id: ID!, tenant: ID): Auction
        @kafka(topic: "t", match: [{ arg: "id", key: "order.id" }, { arg: "tenant", key: "tenant" }], tombstone: NULL)
      b(id: ID!): Auction @kafka(topic: "u", match: [{ arg: "id", key: "orderId" }], keys: KEEP)
    `);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      bindings.get('a')?.match.map(({ path }) => path),
      ['.key order.id', '.key tenant'],
    );
    assert.deepEqual(bindings.get('b')?.match[0]?.path, '.key orderId');
  });

  it('reads several topics, and those that an argument of an enum type chooses', () => {
    const { bindings, problems } = parse(`
      a: Auction @kafka(topics: ["orders-eu", "orders-us"])
      b(status: Status!): Auction @kafka(topic: "orders-{status}")
      c(statuses: [Status!]): Auction @kafka(topic: "{statuses}.orders")
    `);
    assert.deepEqual(problems, []);
    assert.deepEqual(bindings.get('a')?.topics, ['orders-eu', 'orders-us']);
    assert.deepEqual(bindings.get('b')?.topics, ['orders-OPEN', 'orders-CLOSED']);
    assert.deepEqual(
      [...bindings.get('c')!.topicArgument!.byValue],
      [
        ['OPEN', 'OPEN.orders'],
        ['CLOSED', 'CLOSED.orders'],
      ],
    );
  });

  it('reads where, one without brackets, too', () => {
    const { bindings, problems } = parse(
      'a: Auction @kafka(topic: "t", where: { claim: "org.id", path: "meta.tenant" }, payload: "auction")',
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(bindings.get('a')?.where, [{ claim: 'org.id', path: 'meta.tenant' }]);
  });

  it('accepts a Float and a custom scalar as keys', () => {
    const match = '{ arg: "x", path: "id" }';
    const { bindings, problems } = parse(`
      a(x: Float!): Auction @kafka(topic: "t", match: ${match})
      b(x: Date!): Auction @kafka(topic: "t", match: ${match})
      c(x: [Date!]): Auction @kafka(topic: "t", match: ${match})`);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      [...bindings.values()].map((binding) => binding.match[0]!.scalar?.isList),
      [undefined, false, true],
    );
  });

  it('reads history with its defaults, and replay', () => {
    const { bindings, problems } = parse(`
      a: Auction @kafka(topic: "t", history: {})
      b: Auction @kafka(topic: "t", history: { entries: 10, seconds: 5 }, replay: LAST)
    `);
    assert.deepEqual(problems, []);
    assert.deepEqual(bindings.get('a')?.history, { entries: 300, bytes: 1_048_576, seconds: 120 });
    assert.deepEqual(bindings.get('b')?.history, { entries: 10, bytes: 1_048_576, seconds: 5 });
    assert.deepEqual([bindings.get('a')?.replaysLast, bindings.get('b')?.replaysLast], [false, true]);
  });

  it('refuses an invalid history or replay, with the line and the remedy', () => {
    const field = (rest: string) => problemOf(`a: Auction @kafka(topic: "t", ${rest})`);
    assert.match(field('history: { entries: 0 }'), /schema.graphql:2: .*history.entries .* 1 to 100000/);
    assert.match(field('history: { seconds: "5" }'), /history.seconds must be a whole number of seconds/);
    assert.match(field('history: { entry: 5 }'), /history has no "entry"; use entries, bytes or seconds/);
    assert.match(field('history: 5'), /history must be an object/);
    assert.match(field('replay: LAST'), /no history to take the last event from; add history: \{\}/);
    assert.match(field('history: {}, replay: FIRST'), /replay must be LAST/);
    assert.match(field('state: true'), /state must be an object such as \{\} or \{ seconds: 3600 \}/);
    assert.match(field('state: { seconds: 0 }'), /state.seconds must be a whole number of seconds, 1 to/);
    assert.match(field('state: { entries: 5 }'), /state has no "entries"; use seconds/);
  });

  it('accepts one match and one unused argument without brackets, and fields with a subscribe resolver', () => {
    const { bindings, problems, warnings } = parse(
      `a(id: ID!, unread: Filter!): Auction @kafka(topic: "t", match: { arg: "id", path: "id" }, unused: "unread")
       clock(zone: String!): Int`,
      ['clock'],
    );
    assert.deepEqual([problems, warnings], [[], []]);
    assert.deepEqual([...bindings.keys()], ['a']);
  });

  it('refuses a required argument that selects no events, with the line and the remedies', () => {
    const problem = problemOf('a(order_id: ID!): Auction @kafka(topic: "t")');
    assert.match(problem, /^schema\.graphql:2: Subscription\.a: the argument "order_id" chooses no events/);
    assert.match(problem, /add \{ arg: "order_id", path: "…" \} to match, .* or declare unused: \["order_id"\]$/);
    const other = '@kafka(topic: "t", match: { arg: "id", path: "id" })';
    assert.match(problemOf(`a(id: ID!, tenant: ID!): Auction ${other}`), /the argument "tenant" chooses no events/);
  });

  it('warns of an optional argument that selects no events, and accepts the graph', () => {
    const { bindings, problems, warnings } = parse('a(page: Int, size: Int! = 5): Auction @kafka(topic: "t")');
    assert.deepEqual(problems, []);
    assert.deepEqual([...bindings.keys()], ['a']);
    assert.equal(warnings.length, 2);
    assert.match(warnings[0]!, /^schema\.graphql:2: Subscription\.a: the argument "page" chooses no events/);
    assert.match(warnings[1]!, /the argument "size"/);
  });

  it('accepts arguments that are declared unused, and those of a field with a resolver', () => {
    const declared = parse('a(x: ID!, y: ID): Auction @kafka(topic: "t", unused: ["x", "y"])');
    assert.deepEqual([declared.problems, declared.warnings], [[], []]);
    const schema = schemaWith('a(x: ID!, y: ID): Auction @kafka(topic: "t")');
    schema.getSubscriptionType()!.getFields()['a']!.resolve = () => null;
    const resolved = parseBindings(schema, new Set());
    assert.deepEqual([resolved.problems, resolved.warnings], [[], []]);
  });

  it('reports a match with a mistake once, and not its argument as unused', () => {
    assert.match(
      problemOf('a(x: ID!): Auction @kafka(topic: "t", match: { arg: "x", path: "a..b" })'),
      /empty segment/,
    );
  });

  it('allows four matched arguments to be left out beside any number of required ones', () => {
    const names = [...'abcdef'];
    const args = names.map((name, i) => `${name}: ID${i < 4 ? '' : '!'}`).join();
    const match = names.map((name) => `{ arg: "${name}", path: "${name}" }`).join();
    assert.deepEqual(parse(`a(${args}): Auction @kafka(topic: "t", payload: "p", match: [${match}])`).problems, []);
  });

  it('allows a path whose name GraphQL reserves, which no type could have', () => {
    const { problems } = parse(
      'a(deleted: ID): Auction @kafka(topic: "t", where: [{ arg: "deleted", path: "__deleted", op: NE }])',
    );
    assert.deepEqual(problems, []);
  });

  it('allows a path that some type of an abstract value has, __typename included', () => {
    const { problems } = parse(`
      a(n: Int!): Event @kafka(topic: "t", match: [{ arg: "n", path: "e.lot_no" }], payload: "e")
      b(n: String!): Thing @kafka(topic: "t", match: [{ arg: "n", path: "__typename" }])
      c(n: ID!): Auction @kafka(topic: "t", match: [{ arg: "n", path: "auction.seller.id" }], payload: "auction")
    `);
    assert.deepEqual(problems, []);
  });

  const mistakes: Record<string, [field: string, expected: RegExp]> = {
    'a missing directive': ['a: Auction', /schema\.graphql:2: Subscription\.a: has no source.*add @kafka/],
    'an illegal topic': ['a: Auction @kafka(topic: "a b")', /topic "a b" is not a Kafka topic name; use 1 to 249/],
    'an empty topic': ['a: Auction @kafka(topic: "")', /topic "" is not/],
    'the topic ".."': ['a: Auction @kafka(topic: "..")', /topic "\.\." is not/],
    'an unknown argument': [
      'a(auction_id: Int): Auction @kafka(topic: "t", match: [{ arg: "auctionId", path: "auction_id" }])',
      /names the argument "auctionId", which the field does not have; did you mean "auction_id"\?/,
    ],
    'a where without an operator': [
      'a(x: ID): Auction @kafka(topic: "t", where: { arg: "x", path: "id" })',
      /each where of an argument must be \{ arg: "…", path: "…", op: EQ \}, with one of EQ, NE, IN, LT/,
    ],
    'a misspelt operator': [
      'a(x: ID): Auction @kafka(topic: "t", where: { arg: "x", path: "id", op: GTEE })',
      /GT, GTE, CONTAINS, PREFIX; got \{ ?arg: "x", path: "id", op: GTEE ?\}; did you mean "GTE"\?/,
    ],
    'a misspelt member of a match': [
      'a(x: ID): Auction @kafka(topic: "t", match: { args: "x", path: "id" })',
      /each match must be .*; got \{ ?args: "x", path: "id" ?\}/,
    ],
    'an argument in topics': [
      'a(x: ID): Auction @kafka(topics: "t-{x}", match: { arg: "x", path: "id" })',
      /topics has "t-\{x\}", but only topic may name an argument; write topic: "t-\{x\}"/,
    ],
    'a where of an argument and a claim': [
      'a(x: ID): Auction @kafka(topic: "t", where: { arg: "x", claim: "sub", path: "id", op: EQ })',
      /each where of an argument must be/,
    ],
    'a where of an unknown argument': [
      'a(min: Int): Auction @kafka(topic: "t", where: { arg: "mim", path: "price", op: GT })',
      /where names the argument "mim", which the field does not have; did you mean "min"\?/,
    ],
    'a where on an impossible path': [
      'a(x: Float): Auction @kafka(topic: "t", where: { arg: "x", path: "prise", op: GT })',
      /path "prise" leads to no field, which a path inside the payload must: Auction has no field "prise"; did you mean "price"\?/,
    ],
    'IN with one value': [
      'a(x: ID): Auction @kafka(topic: "t", where: { arg: "x", path: "id", op: IN })',
      /argument "x" is of type ID; IN compares with a list of values, such as \[ID!\]/,
    ],
    'EQ with a list': [
      'a(x: [ID!]): Auction @kafka(topic: "t", where: { arg: "x", path: "id", op: EQ })',
      /is of type \[ID!\]; EQ compares with one value: use a scalar or an enum, or IN with a list/,
    ],
    'an input object in where': [
      'a(x: Filter): Auction @kafka(topic: "t", where: { arg: "x", path: "id", op: NE })',
      /is of type Filter; NE compares with one value/,
    ],
    'an order of Booleans': [
      'a(x: Boolean): Auction @kafka(topic: "t", where: { arg: "x", path: "id", op: GT })',
      /is of type Boolean; GT compares numbers and texts; use EQ, NE or IN/,
    ],
    'PREFIX with a number': [
      'a(x: Int): Auction @kafka(topic: "t", where: { arg: "x", path: "id", op: PREFIX })',
      /is of type Int; PREFIX compares texts; use String or ID/,
    ],
    'an order of a number and a text': [
      'a(x: String): Auction @kafka(topic: "t", where: { arg: "x", path: "price", op: LTE })',
      /LTE compares the number at path "price" with the text of "x"; make the argument Int or Float/,
    ],
    'PREFIX on a number': [
      'a(x: ID): Auction @kafka(topic: "t", where: { arg: "x", path: "price", op: PREFIX })',
      /PREFIX compares texts, and path "price" has a number/,
    ],
    'a where on a list': [
      'a(x: ID): Tagged @kafka(topic: "t", where: { arg: "x", path: "tags", op: EQ })',
      /path "tags" ends at a list/,
    ],
    'two equal wheres': [
      'a(x: ID): Auction @kafka(topic: "t", where: [{ arg: "x", path: "id", op: NE }, { arg: "x", path: "id", op: NE }])',
      /two wheres of "x" on path "id" with NE; keep one/,
    ],
    'a match on a path of the payload and the key': [
      'a(x: ID): Auction @kafka(topic: "t", match: { arg: "x", path: "id", key: true })',
      /each match must be \{ arg: "…", path: "…" \}, \{ arg: "…", key: true \}, \{ arg: "…", key: "…" \} or/,
    ],
    'a match on key: false': [
      'a(x: ID): Auction @kafka(topic: "t", match: { arg: "x", key: false })',
      /each match must/,
    ],
    'a match on a path of the key with an empty segment': [
      'a(x: ID): Auction @kafka(topic: "t", match: { arg: "x", key: "id." })',
      /match of "x": key "id\." has an empty segment/,
    ],
    'a match on a path of the key that is in camelCase': [
      'a(x: ID): Auction @kafka(topic: "t", match: { arg: "x", key: "orderId" })',
      /match of "x": key "orderId" can never match, because the names in a decoded key are snake_case; write "order_id"/,
    ],
    'two matches on one path of the key': [
      'a(x: ID, y: ID): Auction @kafka(topic: "t", match: [{ arg: "x", key: "id" }, { arg: "y", key: "id" }])',
      /two matches on "id" of the record's key; keep one/,
    ],
    'a match on a header without a name': [
      'a(x: ID): Auction @kafka(topic: "t", match: { arg: "x", header: "" })',
      /each match must be/,
    ],
    'a path that is written as the key is named': [
      'a(x: ID): Auction @kafka(topic: "t", match: { arg: "x", path: ".key" })',
      /path "\.key" has an empty segment/,
    ],
    'two matches on the key': [
      'a(x: ID, y: ID): Auction @kafka(topic: "t", match: [{ arg: "x", key: true }, { arg: "y", key: true }])',
      /two matches on the record's key; keep one/,
    ],
    'a list as key whose items may be null': [
      'a(x: [ID]): Auction @kafka(topic: "t", match: [{ arg: "x", path: "id" }])',
      /\[ID\], which cannot be a key.*a list of one of them such as \[ID!\]/,
    ],
    'a list of lists as key': [
      'a(x: [[ID!]!]): Auction @kafka(topic: "t", match: [{ arg: "x", path: "id" }])',
      /\[\[ID!\]!\], which cannot be a key/,
    ],
    'no topic': ['a: Auction @kafka', /has no topic; add topic: "…", or topics: \["…", "…"\]/],
    'topic and topics': ['a: Auction @kafka(topic: "t", topics: ["u"])', /has both topic and topics; keep one/],
    'no topics': ['a: Auction @kafka(topics: [])', /topics must be a list of Kafka topics/],
    'an illegal one of several topics': ['a: Auction @kafka(topics: ["t", "a b"])', /topic "a b" is not a Kafka topic/],
    'a topic twice': ['a: Auction @kafka(topics: ["t", "t"])', /topics has "t" twice; keep one/],
    'a topic of an unknown argument': [
      'a(status: Status): Auction @kafka(topic: "t-{state}")',
      /topic "t-\{state\}" names the argument "state", which the field does not have; did you mean "status"\?/,
    ],
    'a topic of an argument that is no enum': [
      'a(status: String!): Auction @kafka(topic: "t-{status}")',
      /the argument "status" of type String!; its topics must be known at the start: use an enum/,
    ],
    'a topic of two arguments': [
      'a(x: Status, y: Status): Auction @kafka(topic: "{x}-{y}")',
      /has more than one argument in braces; keep one/,
    ],
    'an input object as key': [
      'a(x: Filter): Auction @kafka(topic: "t", match: [{ arg: "x", path: "id" }])',
      /Filter, which cannot/,
    ],
    'an empty segment': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "a..b" }])',
      /path "a\.\.b" has an empty segment/,
    ],
    'a camelCase path': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "auction.auctionId" }], payload: "other")',
      /"auction\.auctionId" can never match.*write "auction\.auction_id"/,
    ],
    'a camelCase payload': [
      'a: Auction @kafka(topic: "t", payload: "theAuction")',
      /payload "theAuction" can never match.*write "the_auction"/,
    ],
    'a shared that is no Boolean': ['a: Auction @kafka(topic: "t", shared: "no")', /shared must be true or false/],
    'an empty payload': ['a: Auction @kafka(topic: "t", payload: "")', /payload is empty; leave it out/],
    'a path to no field': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "auction.titel" }], payload: "auction")',
      /path "auction\.titel" leads to no field, which a path inside the payload must: Auction has no field "titel"; did you mean "title"\?/,
    ],
    'a path through a list': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "items.id" }])',
      /path "items\.id" goes through a list/,
    ],
    'a path to a list': [
      'a(x: ID): [Auction] @kafka(topic: "t", match: [{ arg: "x", path: "p" }], payload: "p")',
      /ends at a list/,
    ],
    'a path to an object': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "seller" }])',
      /ends at an object \(Seller\); extend it/,
    ],
    'a path to the object above the payload': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "p" }], payload: "p.auction")',
      /ends at an object, the one that holds the payload/,
    ],
    'a path beyond a value': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "title.text" }])',
      /continues after String.*end it at "title"/,
    ],
    'one path twice': [
      'a(x: ID, y: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "id" }, { arg: "y", path: "id" }])',
      /two matches on path "id"/,
    ],
    'one argument twice': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "id" }, { arg: "x", path: "title" }])',
      /two matches for argument "x"/,
    ],
    'a match that lacks a part': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x" }])',
      /each match must be \{ arg: "…", path: "…" \}/,
    ],
    'a where that lacks a part': [
      'a: Auction @kafka(topic: "t", where: [{ claim: "x" }])',
      /each where must be \{ claim: "…", path: "…" \}/,
    ],
    'a where with an empty claim': [
      'a: Auction @kafka(topic: "t", where: [{ claim: "a..b", path: "id" }])',
      /claim "a\.\.b" has an empty name; write names separated by single dots/,
    ],
    'a where on a claim of one token': [
      'a: Auction @kafka(topic: "t", where: [{ claim: "jti", path: "id" }])',
      /where: claim "jti" changes with each token; name one that all tokens of a user have/,
    ],
    'a where to a camelCase path': [
      'a: Auction @kafka(topic: "t", where: [{ claim: "x", path: "auctionId" }], payload: "other")',
      /where of "x": path "auctionId" can never match.*write "auction_id"/,
    ],
    'a where to no field': [
      'a: Auction @kafka(topic: "t", where: [{ claim: "x", path: "titel" }])',
      /path "titel" leads to no field, which a path inside the payload must: Auction has no field "titel"; did you mean "title"/,
    ],
    'two wheres on one path': [
      'a: Auction @kafka(topic: "t", where: [{ claim: "x", path: "id" }, { claim: "y", path: "id" }])',
      /two wheres on path "id"; keep one/,
    ],
    'a match and a where on one path': [
      'a(x: ID): Auction @kafka(topic: "t", match: [{ arg: "x", path: "id" }], where: [{ claim: "y", path: "id" }])',
      /match and where are both on path "id": .*; remove it from match/,
    ],
    'more than four optional matches': [
      `a(a: ID, b: ID, c: ID, d: ID, e: ID): Auction @kafka(topic: "t", payload: "p", match: [${[...'abcde'].map((n) => `{ arg: "${n}", path: "${n}" }`).join()}])`,
      /5 matched arguments may be left out, which makes 32 channels/,
    ],
    'an unused argument that the field does not have': [
      'a(auction_id: Int): Auction @kafka(topic: "t", unused: ["auctionId"])',
      /unused names the argument "auctionId", which the field does not have; did you mean "auction_id"\?/,
    ],
    'an unused argument that is matched': [
      'a(x: ID!): Auction @kafka(topic: "t", match: { arg: "x", path: "id" }, unused: ["x"])',
      /unused names the argument "x", which match uses; remove it from one of them/,
    ],
    'an unused that is not text': [
      'a(x: ID): Auction @kafka(topic: "t", unused: [x])',
      /unused must be a list of argument names, such as \["order_id"\]/,
    ],
    'a topic that is not text': ['a: Auction @kafka(topic: 5)', /topic must be the name of a Kafka topic/],
  };
  for (const [name, [field, expected]] of Object.entries(mistakes)) {
    it(`refuses ${name}`, () => assert.match(problemOf(field), expected));
  }

  it('refuses @kafka on a field with a subscribe resolver, and on fields of other types', () => {
    assert.match(problemOf('a: Auction @kafka(topic: "t")', ['a']), /both @kafka and a `subscribe`/);
    const text = `type Subscription { a: Int @kafka(topic: "t") }\ntype Query { q: Int @kafka(topic: "t") }${KAFKA_DIRECTIVE}`;
    const { problems } = parseBindings(buildSchema(new Source(text, 'schema.graphql')), new Set());
    assert.match(
      problems.join('\n'),
      /^schema\.graphql:2: Query\.q: @kafka feeds only fields of the Subscription type/,
    );
  });

  it('names every mistake at once, each with its line', () => {
    const { problems } = parse(`a: Auction\nb: Auction @kafka(topic: "", payload: "")`);
    assert.deepEqual(
      problems.map((problem) => /^schema\.graphql:\d+: Subscription\.\w+/.exec(problem)?.[0]),
      ['schema.graphql:2: Subscription.a', 'schema.graphql:3: Subscription.b', 'schema.graphql:3: Subscription.b'],
    );
  });
});
