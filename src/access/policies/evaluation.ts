/**
 * Decides whether a bucket policy denies one request.
 *
 * Owns: what makes a statement apply. Knows nothing of: how it was written, where policies are kept.
 * Rule: a denial that applies is final. A statement that allows is never asked: what a key may do is said by its scopes, and no
 * policy widens them. [decisions 14]
 */
import type { BucketPolicy, Choice, Statement } from './bucket-policy.ts'
import { type Attributes, holds } from './conditions.ts'
import { matchesWildcards } from './wildcards.ts'

export interface PolicyQuestion {
  readonly accessKeyId: string
  /** All names under which the request is asked for; a denial of one is a denial. */
  readonly actions: readonly string[]
  /** Null: it is done to the bucket itself. */
  readonly key: string | null
  readonly attributes: Attributes
}

/** The place in the policy of the first statement that denies, from 0; -1: none does. */
export function denyingStatement({ statements }: BucketPolicy, question: PolicyQuestion): number {
  return statements.findIndex((statement) => statement.effect === 'Deny' && applies(statement, question))
}

function applies(statement: Statement, { accessKeyId, actions, key, attributes }: PolicyQuestion): boolean {
  const { principals, resources, conditions } = statement
  return (
    isChosen(principals, (name) => name === '*' || name === accessKeyId) &&
    actions.some((action) => isActionChosen(statement.actions, action)) &&
    isResourceChosen(resources, key) &&
    conditions.every((condition) => holds(condition, attributes))
  )
}

function isActionChosen(actions: Choice, action: string): boolean {
  const name = action.toLowerCase()
  return isChosen(actions, (pattern) => matchesWildcards(pattern, name))
}

function isResourceChosen(resources: Statement['resources'], key: string | null): boolean {
  if (key === null) return resources.hasBucket !== resources.isNegated
  return isChosen(resources, (pattern) => matchesWildcards(pattern, key))
}

function isChosen({ isNegated, patterns }: Choice, matches: (pattern: string) => boolean): boolean {
  return patterns.some(matches) !== isNegated
}
