import { Kind, valueFromASTUntyped } from 'graphql';
import type { ConstDirectiveNode, DocumentNode } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { lineOf } from '../schema/problem.ts';
import { FEDERATION_DIRECTIVES, SHARED_DIRECTIVES } from './federation-directives.ts';

/** What a schema calls the elements of federation. */
export interface FederationLink {
  /** Local names of directives, by their names in the specification: `key` may be `key`, `federation__key` or an alias. */
  readonly directives: ReadonlyMap<string, string>;
  /** Local name of the scalar `FieldSet`. */
  readonly fieldSet: string;
  /** Directives that crier has in every schema and that this schema imports: the router receives them, too. */
  readonly shared: ReadonlySet<string>;
}

const FEDERATION = 'https://specs.apollo.dev/federation';
const EXAMPLE = `extend schema @link(url: "${FEDERATION}/v2.3", import: ["@key"])`;

/** @returns undefined for a schema that does not link federation */
export function readFederationLink(sdl: DocumentNode, problems: string[]): FederationLink | undefined {
  const [link, second] = sdl.definitions.flatMap((definition) =>
    definition.kind === Kind.SCHEMA_DEFINITION || definition.kind === Kind.SCHEMA_EXTENSION
      ? (definition.directives ?? []).filter(isFederationLink)
      : [],
  );
  if (!link) return undefined;
  const report = (problem: string, node = link) => void problems.push(`${lineOf(node)}@link: ${problem}`);
  if (second) report('links federation a second time; remove it', second);
  const { url, as: namespace = 'federation', import: imports = [] } = argumentsOf(link);
  if (!/\/v2\.\d+\/?$/.test(url as string)) {
    report(`"${url as string}" is no version that crier has; write one of v2, such as "${FEDERATION}/v2.3"`);
  }
  if (typeof namespace !== 'string' || !Array.isArray(imports)) {
    report(`as must be a name in quotes, and import a list, such as ["@key", { name: "@shareable", as: "@shared" }]`);
    return undefined;
  }
  const imported = readImports(imports, report);
  const nameOf = (name: string) => imported.get(`@${name}`)?.slice(1) ?? `${namespace}__${name}`;
  return {
    directives: new Map(Object.keys(FEDERATION_DIRECTIVES).map((name) => [name, nameOf(name)])),
    fieldSet: imported.get('FieldSet') ?? `${namespace}__FieldSet`,
    shared: new Set([...SHARED_DIRECTIVES].filter((name) => imported.has(`@${name}`))),
  };
}

/** What to do about a directive of federation that graphql-js does not know; '' for any other. */
export function unknownDirectiveFix(name: string, link: FederationLink | undefined): string {
  if (!Object.hasOwn(FEDERATION_DIRECTIVES, name) && name !== 'link') return '';
  if (!link) return `; a subgraph links federation first: ${EXAMPLE}`;
  return `; import "@${name}" in the @link of federation, or write @${link.directives.get(name)!}`;
}

/** Local names by names in the specification. */
function readImports(imports: readonly unknown[], report: (problem: string) => void): ReadonlyMap<string, string> {
  const directives = [...Object.keys(FEDERATION_DIRECTIVES), ...SHARED_DIRECTIVES].map((name) => `@${name}`);
  const known = [...directives, 'FieldSet'];
  const imported = new Map<string, string>();
  for (const item of imports) {
    const { name, as = name } = (typeof item === 'object' ? (item ?? {}) : { name: item }) as Record<string, unknown>;
    if (typeof name !== 'string' || typeof as !== 'string') {
      report(`import has ${JSON.stringify(item)}; write a name in quotes, or { name: "@key", as: "@primaryKey" }`);
    } else if (!known.includes(name)) {
      const fix = directives.includes(`@${name}`) ? `; write "@${name}"` : didYouMean(name, known);
      report(`imports "${name}", which crier does not have${fix || `; it has ${known.join(', ')}`}`);
    } else if (name.startsWith('@') !== as.startsWith('@')) {
      report(`imports "${name}" as "${as}"; both are written with @, or both without`);
    } else if (as !== name && SHARED_DIRECTIVES.has(name.slice(1))) {
      report(`imports "${name}" as "${as}", which crier would not enforce; import it under its own name`);
    } else {
      imported.set(name, as);
    }
  }
  return imported;
}

function isFederationLink(directive: ConstDirectiveNode): boolean {
  const { url } = argumentsOf(directive);
  return directive.name.value === 'link' && typeof url === 'string' && `${url}/`.startsWith(`${FEDERATION}/`);
}

function argumentsOf(directive: ConstDirectiveNode): Record<string, unknown> {
  const entries = (directive.arguments ?? []).map(
    ({ name, value }) => [name.value, valueFromASTUntyped(value)] as const,
  );
  return Object.fromEntries(entries);
}
