import { Kind, getNamedType, getNullableType, isEnumType, isListType, isNonNullType, print } from 'graphql';
import type { ConstValueNode, GraphQLEnumType, GraphQLField } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { quotesHint } from './directive-arguments.ts';

/** An argument that chooses among the topics of a field. */
export interface TopicArgument {
  readonly arg: string;
  /** By the value of its enum. */
  readonly byValue: ReadonlyMap<string, string>;
}

/** The topics that feed a field. */
export interface FieldTopics {
  /** All that the field may read, each once. */
  readonly topics: readonly string[];
  /** Left out or null, the field reads all topics. undefined: it always does. */
  readonly topicArgument?: TopicArgument | undefined;
}

type Field = GraphQLField<unknown, unknown>;
type Node = ConstValueNode | undefined;

/** Between braces: the argument of a topic such as "orders-{region}". */
const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Reads the `topic` or `topics` of a @kafka; undefined: there is a problem. */
export function readTopics(topic: Node, topics: Node, field: Field, problems: string[]): FieldTopics | undefined {
  const hasTopics = topics !== undefined && topics.kind !== Kind.NULL;
  const hasTopic = topic !== undefined && topic.kind !== Kind.NULL;
  if (hasTopic === hasTopics) {
    problems.push(
      hasTopic ? 'has both topic and topics; keep one' : 'has no topic; add topic: "…", or topics: ["…", "…"]',
    );
    return undefined;
  }
  return hasTopic ? readTopic(topic, field, problems) : readList(topics!, problems);
}

/** The argument that a topic such as "orders-{region}" names, even where it has a mistake. */
export function topicArgumentOf(topic: Node): string | undefined {
  return topic?.kind === Kind.STRING ? [...topic.value.matchAll(PLACEHOLDER)][0]?.[1] : undefined;
}

function readTopic(node: ConstValueNode, field: Field, problems: string[]): FieldTopics | undefined {
  if (node.kind !== Kind.STRING) {
    const fix =
      node.kind === Kind.LIST ? `; write topics: ${print(node)}` : quotesHint(new Map([['topic', node]]), ['topic']);
    problems.push(`topic must be the name of a Kafka topic, in quotes${fix}`);
    return undefined;
  }
  const template = node.value;
  const [placeholder, ...others] = template.matchAll(PLACEHOLDER);
  if (!placeholder) return isTopic(template, problems) ? { topics: [template] } : undefined;
  if (others.length > 0) {
    problems.push(`topic ${JSON.stringify(template)} has more than one argument in braces; keep one`);
    return undefined;
  }
  const arg = placeholder[1]!;
  const type = enumOf(arg, template, field, problems);
  if (!type) return undefined;
  const byValue = new Map(type.getValues().map(({ name }) => [name, template.replace(placeholder[0], () => name)]));
  const names = [...byValue.values()];
  return names.every((name) => isTopic(name, problems))
    ? { topics: names, topicArgument: { arg, byValue } }
    : undefined;
}

function enumOf(arg: string, template: string, field: Field, problems: string[]): GraphQLEnumType | undefined {
  const argument = field.args.find(({ name }) => name === arg);
  const what = `topic ${JSON.stringify(template)} names the argument "${arg}"`;
  if (!argument) {
    const names = field.args.map(({ name }) => name);
    problems.push(`${what}, which the field does not have${didYouMean(arg, names)}`);
    return undefined;
  }
  const type = getNullableType(argument.type);
  const named = getNamedType(type);
  const isItem = !isListType(type) || (isNonNullType(type.ofType) && isEnumType(type.ofType.ofType));
  if (isEnumType(named) && isItem) return named;
  problems.push(
    `${what} of type ${String(argument.type)}; its topics must be known at the start: use an enum, or a list of it such as [Region!]`,
  );
  return undefined;
}

function readList(node: ConstValueNode, problems: string[]): FieldTopics | undefined {
  const items = node.kind === Kind.LIST ? node.values : [node];
  const topics = items.flatMap((item) => (item.kind === Kind.STRING ? [item.value] : []));
  if (topics.length !== items.length || topics.length === 0) {
    problems.push('topics must be a list of Kafka topics, such as ["orders-eu", "orders-us"]');
    return undefined;
  }
  const double = topics.find((topic, index) => topics.indexOf(topic) !== index);
  if (double !== undefined) problems.push(`topics has "${double}" twice; keep one`);
  const chosen = topics.find((topic) => topic.includes('{'));
  if (chosen !== undefined) {
    problems.push(`topics has "${chosen}", but only topic may name an argument; write topic: "${chosen}"`);
    return undefined;
  }
  return topics.every((topic) => isTopic(topic, problems)) ? { topics } : undefined;
}

/** Reports what is not the name of a Kafka topic. */
export function isTopic(topic: string, problems: string[]): boolean {
  if (/^[A-Za-z0-9._-]{1,249}$/.test(topic) && topic !== '.' && topic !== '..') return true;
  problems.push(
    `topic ${JSON.stringify(topic)} is not a Kafka topic name; use 1 to 249 letters, digits, ".", "_" or "-"`,
  );
  return false;
}
