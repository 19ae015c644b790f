// @ts-check
import { types as t } from '@babel/core';
import { unwrap } from './unwrap.js';

/** @import { NodePath } from '@babel/core' */

/**
 * Leaves the literal where it is, puts the marker in place of each value, and moves the values into one selector:
 *
 *     { a: f(), b: g() }
 *     _Lazy.proxy({ a: _Lazy.unbuilt, b: _Lazy.unbuilt }, _key => {
 *       switch (_key) { case "b": return g(); case "a": return f(); }
 *     })
 *
 * Spread elements, methods, accessors and `__proto__: x` stay as they are, so they mean what they mean in a literal.
 *
 * @param {NodePath<t.ObjectExpression>} literal
 * @param {t.Identifier} runtime
 * @returns {t.CallExpression}
 */
export function lazyObject(literal, runtime) {
  const member = (/** @type {string} */ name) => t.memberExpression(t.cloneNode(runtime), t.identifier(name));
  /** @type {t.Identifier[]} */
  const computedKeys = [];
  /** @type {t.SwitchCase[]} */
  const cases = [];

  const properties = literal.get('properties').map((path) => {
    const property = path.node;
    if (!path.isObjectProperty() || !t.isObjectProperty(property) || setsPrototype(property)) return property;
    const marked = t.cloneNode(property, false);
    marked.shorthand = false;
    marked.value = member('unbuilt');
    /** @type {t.StringLiteral | t.Identifier} */
    let key;
    if (property.computed) {
      key = literal.scope.generateUidIdentifier('key');
      computedKeys.push(key);
      const value = /** @type {t.Expression} */ (property.key);
      marked.key = t.assignmentExpression('=', key, t.callExpression(member('propertyKey'), [value]));
    } else {
      key = t.stringLiteral(staticKey(property.key));
      // `__proto__: x` would set the prototype, where the shorthand makes a property.
      if (key.value === '__proto__') Object.assign(marked, { key, computed: true });
    }
    // Of two equal keys the last one holds, so it has to be found first.
    cases.unshift(t.switchCase(t.cloneNode(key), [t.returnStatement(selected(path.get('value'), key))]));
    return marked;
  });

  const key = literal.scope.generateUidIdentifier('key');
  const select = t.arrowFunctionExpression([key], t.blockStatement([t.switchStatement(t.cloneNode(key), cases)]));
  const call = t.callExpression(member('proxy'), [t.inherits(t.objectExpression(properties), literal.node), select]);
  // Computed keys are variables of this one evaluation: each turn of a loop has its own.
  return computedKeys.length === 0 ? call : t.callExpression(t.arrowFunctionExpression(computedKeys, call), []);
}

/** @param {t.ObjectProperty} property */
function setsPrototype({ key, computed, shorthand }) {
  return !computed && !shorthand && staticKey(key) === '__proto__';
}

/**
 * The name of the property that a key makes, where it is not computed.
 *
 * @param {t.ObjectProperty['key']} key
 * @returns {string}
 */
function staticKey(key) {
  if (t.isIdentifier(key)) return key.name;
  if (t.isBigIntLiteral(key)) return String(BigInt(key.value));
  if (t.isStringLiteral(key) || t.isNumericLiteral(key)) return String(key.value);
  throw new TypeError(`Proxy.lazy: unknown kind of key: ${key.type}`);
}

/**
 * An anonymous function or class is named after its key, as in the literal.
 *
 * @param {NodePath<t.ObjectProperty['value']>} path
 * @param {t.StringLiteral | t.Identifier} key
 * @returns {t.Expression}
 */
function selected(path, key) {
  const value = /** @type {t.Expression} */ (path.node);
  const inner = unwrap(path).node;
  const isAnonymous =
    t.isArrowFunctionExpression(inner) ||
    ((t.isFunctionExpression(inner) || t.isClassExpression(inner)) && inner.id == null);
  if (!isAnonymous) return value;
  const named = t.objectExpression([t.objectProperty(t.cloneNode(key), value, true)]);
  return t.memberExpression(named, t.cloneNode(key), true);
}
