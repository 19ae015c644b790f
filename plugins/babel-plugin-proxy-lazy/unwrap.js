// @ts-check
/** @import { NodePath } from '@babel/core' */

/**
 * Returns the expression inside type annotations and parentheses.
 *
 * @param {NodePath} path
 * @returns {NodePath}
 */
export function unwrap(path) {
  if (
    path.isTSAsExpression() ||
    path.isTSSatisfiesExpression() ||
    path.isTSNonNullExpression() ||
    path.isTSTypeAssertion() ||
    path.isParenthesizedExpression()
  ) {
    return unwrap(/** @type {NodePath} */ (path.get('expression')));
  }
  return path;
}
