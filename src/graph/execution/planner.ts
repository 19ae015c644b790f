import { createRequire } from 'node:module';
import { OperationTypeNode } from 'graphql';
import type { GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type * as GraphqlJit from 'graphql-jit';
import { readsOfTests } from '../context/fact-reads.ts';
import { errorOf } from '../../base/errors.ts';
import type { Payer } from '../documents/document-queue.ts';
import { Operation } from '../documents/operation.ts';
import { RenderContext } from '../projection/render-context.ts';
import { templateOf } from '../projection/template.ts';
import { compiledInfo } from './isolation.ts';
import { compileObstacle, schemaObstacle } from './jit-gate.ts';
import { OperationPlan } from './operation-plan.ts';
import type { SplitOperation } from './operation-plan.ts';

export interface PlannerOptions {
  /** Executions by graphql-js before an operation is compiled and split; 1: none, if it is prepared; 0: it never is. */
  readonly jitAfterUses: number;
  /** False: no operation is split, and every event is executed whole. Default: true. */
  readonly hasProjection?: boolean;
  /** Runs the work later and charges the payer. Returns false if it will not: try again. Default: runs it at once. */
  readonly compileLater?: (compile: () => void, payer: Payer | undefined) => boolean;
  readonly onCompile?: (outcome: 'compiled' | 'refused' | 'failed', reason?: string) => void;
}

let compiler: Promise<unknown> | undefined;

/** Once: with the hooks of a graph that is compiled, each import() asks their thread. A use of the compiler reports why it cannot be loaded. */
function loadCompiler(): void {
  compiler ??= import('graphql-jit').catch(() => undefined);
}

/** Compiles and splits operations once they have been executed `jitAfterUses` times, and keeps the outcome in their plans. */
export class Planner {
  readonly #schema: GraphQLSchema;
  readonly #options: PlannerOptions;
  readonly #obstacle: string | undefined;
  readonly #renderContext = new RenderContext();

  constructor(schema: GraphQLSchema, options: PlannerOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#obstacle = schemaObstacle(schema);
  }

  /** Compiles and splits an operation before its first execution, if `jitAfterUses` is 1; loads the compiler if it is more. */
  prepare(plan: OperationPlan): void {
    const { jitAfterUses, hasProjection = true } = this.#options;
    if (jitAfterUses > 1) loadCompiler();
    if (jitAfterUses !== 1) return;
    if (hasProjection && plan.operation.type === OperationTypeNode.SUBSCRIPTION && !plan.isSplitQueued) {
      plan.isSplitQueued = true;
      this.#safely(() => (plan.split = this.#split(plan)));
    }
    const executed = plan.split ? plan.split.slots : plan;
    if (!executed || executed.isCompileQueued) return;
    executed.isCompileQueued = true;
    this.#safely(() => (executed.compiled = this.#compile(executed.operation)));
  }

  /** True if `prepare` has been called, or would do nothing. */
  isPrepared({ isSplitQueued, isCompileQueued }: OperationPlan): boolean {
    return this.#options.jitAfterUses !== 1 || isSplitQueued || isCompileQueued;
  }

  /** The compiled query. undefined: not compiled yet; null: it must not be. */
  compiled(plan: OperationPlan): OperationPlan['compiled'] {
    if (plan.compiled === undefined && !plan.isCompileQueued && this.#isInUse(plan)) {
      plan.isCompileQueued = true;
      plan.isCompileQueued = this.#queue(plan, () => (plan.compiled = this.#compile(plan.operation)));
    }
    return plan.compiled;
  }

  /** A subscription's operation, split. undefined: not split yet, or it has no template. */
  split(plan: OperationPlan): SplitOperation | undefined {
    const { hasProjection = true } = this.#options;
    if (hasProjection && plan.split === undefined && !plan.isSplitQueued && this.#isInUse(plan)) {
      plan.isSplitQueued = true;
      plan.isSplitQueued = this.#queue(plan, () => (plan.split = this.#split(plan)));
    }
    return plan.split ?? undefined;
  }

  #isInUse({ uses }: OperationPlan): boolean {
    const { jitAfterUses } = this.#options;
    return jitAfterUses > 0 && uses >= jitAfterUses;
  }

  #queue({ operation }: OperationPlan, work: () => void): boolean {
    const { compileLater } = this.#options;
    if (compileLater) return compileLater(() => this.#safely(work), operation.payer);
    this.#safely(work);
    return true;
  }

  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onCompile?.('failed', errorOf(error).message);
    }
  }

  #split({ operation, uses }: OperationPlan): SplitOperation | null {
    const template = templateOf(this.#schema, operation, this.#renderContext);
    if (!template) return null;
    const { slotDocument: document, rules } = template;
    const accessReads = rules.length > 0 ? readsOfTests(rules) : undefined;
    if (!document) return { template, slots: undefined, accessReads };
    const { key, documentBytes: bytes, schema, payer } = operation;
    const slots = new Operation(
      { key, document, bytes, schema },
      document.definitions[0] as OperationDefinitionNode,
      payer,
    );
    return { template, slots: new OperationPlan(slots, uses), accessReads };
  }

  #compile({ document, definition, name }: Operation): OperationPlan['compiled'] {
    const { onCompile } = this.#options;
    const obstacle = this.#obstacle ?? compileObstacle(this.#schema, document, definition);
    if (obstacle !== undefined) {
      onCompile?.('refused', obstacle);
      return null;
    }
    const { compileQuery, isCompiledQuery } = graphqlJit();
    const query = compileQuery(this.#schema, document, name, {
      disablingCapturingStackErrors: true,
      useExperimentalPathBasedSkipInclude: true,
      resolverInfoEnricher: ({ fragments, parentType, fieldName, fieldNodes }) => {
        Object.freeze(fragments);
        return compiledInfo(parentType.getFields()[fieldName], fieldNodes[0]!);
      },
    });
    if (isCompiledQuery(query)) {
      onCompile?.('compiled');
      return query.query;
    }
    onCompile?.('failed', query.errors?.[0]?.message ?? 'unknown');
    return null;
  }
}

/** Loaded at its first use: its 90 modules take longer to load than those of graphql-js. */
function graphqlJit(): typeof GraphqlJit {
  return createRequire(import.meta.url)('graphql-jit') as typeof GraphqlJit;
}
