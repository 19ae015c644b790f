import { replaced } from './page-files.ts';

/** Before a change. Records of `items` have what the fields of the changed graphs read, too. */
export const SCHEMA = `
  scalar JSON
  enum Kind { LARGE SMALL }
  type Detail { colour: String }
  type Item { id: ID! n: Int! kind: Kind note: String label: String detail: Detail }
  type Subscription {
    item(id: ID!, kind: Kind): Item
      @kafka(
        topic: "items"
        match: [{ arg: "id", path: "id" }]
        where: [{ arg: "kind", path: "kind", op: EQ }]
        history: {}
        state: {}
      )
  }`;

/** A record. Either key or path that a match of the changes reads has the id. */
export const recordOf = (id: string, n: number) => ({
  id,
  group: id,
  n,
  kind: 'LARGE',
  note: 'a note',
  fullName: 'Ann',
  detail: { colour: 'red', shortName: 'A' },
  nested: { id, n: 100 + n, kind: 'LARGE' },
  __op: 'u',
});

/** `$id`, `$text` and `$kind` are variables of a client. */
export const LIVE = 'item(id: $id) { n note }';

type Edits = readonly (readonly [from: string, to: string])[];

/**
 * A live client reads events of the records 1 and 2, then the schema changes, and the records 3 and 4 follow. Another client, which has missed
 * 2 and 3, resumes after the change.
 */
export interface GraphChange {
  readonly edits: Edits;
  /** Of the schema before the change. Default: none. */
  readonly before?: Edits;
  /** The selection of the live client. Default: `LIVE`. */
  readonly live?: string;
  /** That of clients which subscribe after the change. Default: the same. */
  readonly next?: string;
  /** What these read of record 2, if they resume. */
  readonly replayed?: unknown;
  /** What they read of record 4. */
  readonly later?: unknown;
  /** The topic of records after the change. Default: `items`. */
  readonly topic?: string;
}

/** By its words in docs/operate/schema-changes.md. */
export const GRAPH_CHANGES: Readonly<Record<string, GraphChange>> = {
  'add a type, or a field of a type': {
    edits: [['label: String', 'label: String full_name: String']],
    next: 'item(id: $id) { n full_name }',
    replayed: { n: 2, full_name: 'Ann' },
  },
  'add a field of Subscription': {
    edits: [['item(id', 'more: Item @kafka(topic: "items", payload: "nested") item(id']],
  },
  'remove a field that the operation does not select': { edits: [[' label: String', '']] },
  'remove or rename a field that it selects': {
    edits: [['note: String', 'full_name: String']],
    next: 'item(id: $id) { n full_name }',
    replayed: { n: 2, full_name: 'Ann' },
  },
  'change a scalar into another scalar': {
    edits: [['n: Int!', 'n: String!']],
    replayed: { n: '2', note: 'a note' },
    later: { n: '4', note: 'a note' },
  },
  'change a scalar into an object type': {
    edits: [['note: String', 'note: Detail']],
    next: 'item(id: $id) { n }',
  },
  'change an object type into a custom scalar': {
    edits: [['detail: Detail', 'detail: JSON']],
    live: 'item(id: $id) { n detail { colour } }',
    next: 'item(id: $id) { n detail }',
    replayed: { n: 2, detail: { colour: 'red', short_name: 'A' } },
    later: { n: 4, detail: { colour: 'red', shortName: 'A' } },
  },
  'make a nullable field non-null': {
    edits: [['label: String', 'label: String!']],
    live: 'item(id: $id) { n label }',
    replayed: null,
    later: null,
  },
  'make a non-null field nullable': { edits: [['n: Int!', 'n: Int']] },
  'add an enum value': { edits: [['LARGE SMALL', 'LARGE MEDIUM SMALL']] },
  'remove an enum value that the operation does not send': {
    edits: [['LARGE SMALL', 'SMALL']],
    live: 'item(id: $id) { n kind }',
    replayed: { n: 2, kind: null },
    later: { n: 4, kind: null },
  },
  'remove an enum value that it sends': {
    edits: [['LARGE SMALL', 'SMALL']],
    live: 'item(id: $id, kind: LARGE) { n }',
    next: 'item(id: $id) { n }',
  },
  'rename a type that no fragment names': { edits: [['Item', 'Thing']] },
  'rename a type that a fragment names': {
    edits: [['Item', 'Thing']],
    live: 'item(id: $id) { ... on Item { n } }',
    next: 'item(id: $id) { ... on Thing { n } }',
  },
  'rename or remove the field of Subscription': {
    edits: [['item(id', 'thing(id']],
    next: 'item: thing(id: $id) { n }',
  },
  'add an optional argument': {
    edits: [
      ['kind: Kind)', 'kind: Kind, least: Int)'],
      ['path: "kind", op: EQ }', 'path: "kind", op: EQ }, { arg: "least", path: "n", op: GTE }'],
    ],
  },
  'add a required argument': {
    edits: [
      ['kind: Kind)', 'kind: Kind, least: Int!)'],
      ['path: "kind", op: EQ }', 'path: "kind", op: EQ }, { arg: "least", path: "n", op: GTE }'],
    ],
    next: 'item(id: $id, least: 0) { n }',
  },
  'rename or remove an argument that the operation gives': {
    edits: [
      ['id: ID!,', 'of: ID!,'],
      ['arg: "id"', 'arg: "of"'],
    ],
    next: 'item(of: $id) { n }',
  },
  'make an optional argument required that the operation gives': {
    edits: [['kind: Kind)', 'kind: Kind!)']],
    live: 'item(id: $id, kind: LARGE) { n }',
  },
  'make an optional argument required that it gives by a nullable variable': {
    edits: [['kind: Kind)', 'kind: Kind!)']],
    live: 'item(id: $id, kind: $kind) { n }',
    next: 'item(id: $id, kind: LARGE) { n }',
  },
  'make an optional argument required that it does not give': {
    edits: [['kind: Kind)', 'kind: Kind!)']],
    next: 'item(id: $id, kind: LARGE) { n }',
  },
  'make a required argument of `match` optional': { edits: [['id: ID!,', 'id: ID,']] },
  'change the type of an argument that the operation gives': {
    edits: [['id: ID!,', 'id: String!,']],
    next: 'item(id: $text) { n }',
  },
  'change `payload`': {
    edits: [['history: {}', 'payload: "nested", history: {}']],
    live: 'item(id: $id) { n }',
    replayed: { n: 102 },
    later: { n: 104 },
  },
  'change a comparison of an argument in `where`': {
    edits: [[`op: EQ`, `op: NE`]],
  },
  'change `replay`, `shared`, `tombstone`': {
    edits: [['history: {}', 'history: {}, replay: LAST, shared: false, tombstone: NULL']],
  },
  'change the limits of `history`': { edits: [['history: {}', 'history: { entries: 50 }']] },
  'remove `history` of a field without `state`': { before: [['state: {}', '']], edits: [['history: {}', '']] },
  'remove `history`': { edits: [['history: {}', '']] },
  'add `history`': { before: [['history: {}', '']], edits: [['state: {}', 'history: {} state: {}']] },
  'add `state`': { before: [['state: {}', '']], edits: [['history: {}', 'history: {} state: {}']] },
  'change `state`': { edits: [['state: {}', 'state: { seconds: 60 }']] },
  'remove `state`': { edits: [['state: {}', '']] },
  'change `record`, or the headers that `@record` reads': {
    edits: [['history: {}', 'record: { key: true }, history: {}']],
  },
  'change `keys`, and the names of fields with it': {
    edits: [
      ['history: {}', 'keys: KEEP, history: {}'],
      ['label: String', 'label: String fullName: String'],
    ],
    live: 'item(id: $id) { n }',
    next: 'item(id: $id) { n fullName }',
    replayed: { n: 2, fullName: null },
    later: { n: 4, fullName: 'Ann' },
  },
  'add `envelope`': { edits: [['topic: "items"', 'topic: "items", envelope: DEBEZIUM_FLAT']] },
  'remove `envelope`': {
    before: [['topic: "items"', 'topic: "items", envelope: DEBEZIUM_FLAT']],
    edits: [['topic: "items", envelope: DEBEZIUM_FLAT', 'topic: "items"']],
  },
  'change the `path` of a `match`, add one or remove one': {
    edits: [
      ['label: String', 'label: String group: ID'],
      ['path: "id"', 'path: "group"'],
    ],
  },
  'change the topic': { edits: [['topic: "items"', 'topic: "others"']], topic: 'others' },
};

/** The schema before and after a change. */
export function schemasOf({ before = [], edits }: GraphChange): readonly [string, string] {
  const former = replaced(SCHEMA, before);
  return [former, replaced(former, edits)];
}
