import { Kind } from 'graphql';
import type { ConstDirectiveNode, GraphQLField, GraphQLSchema } from 'graphql';
import type { SettingNames } from '../../config/setting-names.ts';
import { argumentsOf, readTemplate } from './channel-template.ts';
import type { ChannelTemplate } from './channel-template.ts';
import { overlapOf } from './channel-overlap.ts';
import { itemsOf, readPayload, readShared } from './directive-arguments.ts';
import { directiveOf, misplacedUses } from './field-directive.ts';
import { lineOf } from './problem.ts';
import { checkUse, readUnused } from './unused-arguments.ts';

/** The checked @redis directive of a Subscription field. */
export interface RedisBinding {
  readonly field: string;
  readonly template: ChannelTemplate;
  /** Characters that no value may hold: those between the arguments of all channels of the schema. */
  readonly separators: string;
  /** Path of the field's value in the payload; [] is the whole payload. */
  readonly payload: readonly string[];
  readonly isShared: boolean;
  /** Nothing is kept of a plain channel. */
  readonly history?: undefined;
  readonly replaysLast?: undefined;
  readonly state?: undefined;
  readonly filters?: undefined;
  /** File, line and field, for problems that depend on settings. */
  readonly location: string;
}

type Draft = Omit<RedisBinding, 'separators'>;

interface Findings {
  readonly problems: string[];
  readonly warnings: string[];
}

/**
 * Reads and checks the @redis of every Subscription field of a schema with resolvers attached.
 * @param customSources Subscription fields that resolvers feed themselves
 */
export function parseRedisBindings(
  schema: GraphQLSchema,
  customSources: ReadonlySet<string>,
): { bindings: Map<string, RedisBinding> } & Findings {
  const problems = misplacedUses(schema, 'redis');
  const warnings: string[] = [];
  const drafts: Draft[] = [];
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    const directive = directiveOf(field, 'redis');
    if (!directive) continue;
    const found: Findings = { problems: [], warnings: [] };
    const location = `${lineOf(directive)}Subscription.${field.name}`;
    if (customSources.has(field.name)) {
      found.problems.push('has both @redis and a `subscribe` in resolvers; keep one');
    }
    if (directiveOf(field, 'kafka')) found.problems.push('has both @redis and @kafka; keep one');
    const draft = readDraft(field, directive, location, found);
    problems.push(...found.problems.map((problem) => `${location}: ${problem}`));
    warnings.push(...found.warnings.map((warning) => `${location}: ${warning}`));
    if (draft) drafts.push(draft);
  }
  const separators = [...new Set(drafts.flatMap(({ template }) => [...template.separators]))].join('');
  drafts.forEach((draft, index) => {
    for (const other of drafts.slice(0, index)) {
      const overlap = overlapOf(draft.template, other.template, separators);
      if (overlap !== undefined) {
        problems.push(
          `${draft.location}: channel ${JSON.stringify(draft.template.source)} and that of ${other.field} ` +
            `(${JSON.stringify(other.template.source)}) can both be "${overlap}"; begin them with different texts`,
        );
      }
    }
  });
  return { bindings: new Map(drafts.map((draft) => [draft.field, { ...draft, separators }])), problems, warnings };
}

/** Lines for the channels that could be among crier's own, which begin with CHANNEL_PREFIX. */
export function prefixProblems(
  bindings: Iterable<RedisBinding>,
  { CHANNEL_PREFIX: prefix, names }: { readonly CHANNEL_PREFIX: string; readonly names: SettingNames },
): string[] {
  return Array.from(bindings).flatMap(({ template, location }) => {
    const { parts, source } = template;
    const [first] = parts;
    const text = first && 'text' in first ? first.text : '';
    if (!text.startsWith(prefix) && !(parts.length > 1 && prefix.startsWith(text))) return [];
    const fix =
      prefix === ''
        ? `set ${names.CHANNEL_PREFIX}`
        : `begin it with another text, or set another ${names.CHANNEL_PREFIX}`;
    return (
      `${location}: channel ${JSON.stringify(source)} could be one of crier's own, which begin with ${names.CHANNEL_PREFIX} ` +
      `(${JSON.stringify(prefix)}); ${fix}`
    );
  });
}

function readDraft(
  field: GraphQLField<unknown, unknown>,
  directive: ConstDirectiveNode,
  location: string,
  findings: Findings,
): Draft | undefined {
  const { problems } = findings;
  const given = new Map(directive.arguments?.map((argument) => [argument.name.value, argument.value]));
  const channel = given.get('channel');
  if (channel && channel.kind !== Kind.STRING) problems.push('channel must be the name of a Redis channel, in quotes');
  const template = channel?.kind === Kind.STRING ? readTemplate(channel.value, field, problems) : undefined;
  const payload = readPayload(given.get('payload'), problems);
  const isShared = readShared(given.get('shared'), problems);
  const named = new Set(template && argumentsOf(template));
  const unused = readUnused(itemsOf(given.get('unused')), field, named, problems, 'channel');
  if (problems.length > 0 || !template || !payload) return undefined;
  checkUse(field, new Set([...named, ...unused]), findings, (name) => `write {${name}} in channel`);
  return problems.length > 0 ? undefined : { field: field.name, template, payload, isShared, location };
}
