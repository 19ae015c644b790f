// @ts-check
import { template, traverse, types as t } from '@babel/core';
import { lazyObject } from './literal.js';
import { Lazy } from './runtime.js';
import { unwrap } from './unwrap.js';

/** @import { ConfigAPI, NodePath, PluginObj, PluginPass, Visitor } from '@babel/core' */

const NOT_A_CALL = 'Proxy.lazy exists only as a call, Proxy.lazy({ ... }): it is replaced at compile time.';
const NOT_A_LITERAL =
  'Proxy.lazy takes one object literal, written in the call: Proxy.lazy({ key: value }). ' +
  'Its keys and values have to be seen at compile time.';
const SUSPENDS =
  'await and yield do not work in Proxy.lazy({ ... }): a value is computed when it is first read. ' +
  'Await into a variable before the call, or use an async function inside the value.';

const createRuntime = template.expression(Lazy.toString(), { placeholderPattern: false });
const runtimeGlobals = globalsOf(createRuntime());

/**
 * Replaces every `Proxy.lazy({ ... })` and adds the runtime to the files that have one: a graph may live in any folder,
 * so there is no path to import it from.
 *
 * @param {ConfigAPI} api
 * @returns {PluginObj<State>}
 */
export default function proxyLazy(api) {
  api.assertVersion('^7.22 || ^8');
  return {
    name: 'proxy-lazy',
    visitor: {
      CallExpression(path, state) {
        if (!isProxyLazy(path.get('callee'))) return;
        const literal = literalOf(path);
        literal.traverse(refuseSuspension);
        path.replaceWith(t.inherits(lazyObject(literal, runtimeOf(path, state)), path.node));
      },
      'MemberExpression|OptionalMemberExpression'(/** @type {NodePath} */ path) {
        if (isProxyLazy(path)) throw path.buildCodeFrameError(NOT_A_CALL);
      },
    },
  };
}

/** @type {Visitor} */
const refuseSuspension = {
  'AwaitExpression|YieldExpression'(/** @type {NodePath} */ path) {
    throw path.buildCodeFrameError(SUSPENDS);
  },
  // A nested function suspends on its own. The computed key of a method does not belong to it.
  Function(path) {
    path.skipKey('params');
    path.skipKey('body');
  },
};

/** @param {NodePath} path */
function isProxyLazy({ node, scope }) {
  if (!t.isMemberExpression(node) && !t.isOptionalMemberExpression(node)) return false;
  if (!t.isIdentifier(node.object, { name: 'Proxy' }) || scope.getBinding('Proxy')) return false;
  return node.computed
    ? t.isStringLiteral(node.property, { value: 'lazy' })
    : t.isIdentifier(node.property, { name: 'lazy' });
}

/**
 * @param {NodePath<t.CallExpression>} call
 * @returns {NodePath<t.ObjectExpression>}
 */
function literalOf(call) {
  const [argument, second] = call.get('arguments');
  const literal = argument && unwrap(argument);
  if (second !== undefined || !literal?.isObjectExpression()) throw call.buildCodeFrameError(NOT_A_LITERAL);
  return literal;
}

/**
 * The name of the runtime in this file.
 *
 * @param {NodePath} path
 * @param {State} state
 * @returns {t.Identifier}
 */
function runtimeOf(path, state) {
  if (state.runtime !== undefined) return state.runtime;
  const program = path.scope.getProgramParent();
  // The runtime means the real globals, whatever the file calls its own variables.
  for (const name of runtimeGlobals) if (program.hasOwnBinding(name)) program.rename(name);
  const id = program.generateUidIdentifier('Lazy');
  program.push({ id, init: createRuntime(), kind: 'const', unique: true });
  return (state.runtime = id);
}

/**
 * @param {t.Expression} expression
 * @returns {string[]}
 */
function globalsOf(expression) {
  /** @type {string[]} */
  let names = [];
  traverse(t.file(t.program([t.expressionStatement(expression)])), {
    Program(path) {
      names = Object.keys(path.scope.globals);
      path.stop();
    },
  });
  return names;
}

/** @typedef {PluginPass & { runtime?: t.Identifier }} State */
