/**
 * Random policies and requests against an evaluator that reads the policy JSON itself, one rule of the language after the other,
 * and shares only the wildcards with the real one.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { readBucketPolicy } from '../../../src/access/policies/bucket-policy.ts'
import { denyingStatement, type PolicyQuestion } from '../../../src/access/policies/evaluation.ts'
import { matchesWildcards } from '../../../src/access/policies/wildcards.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { ALICE, BOB, BUCKET, type Json, PLACE, policy } from './statements.ts'

const RUNS = 3000

const one = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const listOf = (...values: readonly string[]) =>
  fc.oneof(one(...values), fc.uniqueArray(one(...values), { minLength: 1, maxLength: 3 }))
const member = (plain: string, negated: string, value: fc.Arbitrary<unknown>) =>
  fc.record({ name: one(plain, plain, negated), value }).map(({ name, value: given }) => ({ [name]: given }))

const actions = listOf(
  's3:GetObject',
  's3:GetObjectVersion',
  's3:Get*',
  's3:*',
  's3:PutObject',
  's3:ListBucket',
  's3:?ist*',
)
const resources = listOf(
  BUCKET,
  `${BUCKET}/*`,
  `${BUCKET}/in/*`,
  `${BUCKET}/*a`,
  `${BUCKET}/in/?`,
  `${BUCKET}/in/a`,
)
const principals = fc.oneof(
  one<unknown>('*', { AWS: '*' }),
  listOf(ALICE, `arn:aws:iam::acme:user/${BOB}`).map((AWS) => ({ AWS })),
)
const conditions = fc.oneof(
  fc.record({
    operator: one(
      'StringEquals',
      'StringNotEquals',
      'StringLike',
      'StringNotLike',
      'StringEqualsIfExists',
      'StringNotLikeIfExists',
    ),
    key: one('s3:prefix', 'aws:username', 's3:VersionId'),
    values: listOf('in/', 'in/*', '', 'v1', ALICE, 'AK*'),
  }),
  fc.record({
    operator: one('IpAddress', 'NotIpAddress', 'IpAddressIfExists'),
    key: one('aws:SourceIp'),
    values: listOf('192.0.2.0/24', '10.0.0.0/8', '192.0.2.1'),
  }),
  fc.record({
    operator: one('Bool', 'BoolIfExists'),
    key: one('aws:SecureTransport'),
    values: one('true', 'false'),
  }),
  fc.record({
    operator: one('Null'),
    key: one('s3:prefix', 'aws:username', 's3:VersionId'),
    values: one('true', 'false'),
  }),
)
const statements = fc
  .tuple(
    one('Allow', 'Deny', 'Deny'),
    member('Principal', 'NotPrincipal', principals),
    member('Action', 'NotAction', actions),
    member('Resource', 'NotResource', resources),
    fc.array(conditions, { maxLength: 2 }),
  )
  .map(([Effect, principal, action, resource, asked]): Json => {
    const Condition: Record<string, Record<string, unknown>> = {}
    for (const { operator, key, values } of asked) (Condition[operator] ??= {})[key] = values
    return { Effect, ...principal, ...action, ...resource, Condition }
  })

const questions: fc.Arbitrary<PolicyQuestion> = fc
  .record({
    accessKeyId: one(ALICE, BOB, 'AKOTHER'),
    what: one(
      { actions: ['s3:GetObject'], key: 'in/a' },
      { actions: ['s3:GetObject', 's3:GetObjectVersion'], key: 'out/b', version: 'v1' },
      { actions: ['s3:PutObject'], key: 'in/b' },
      { actions: ['s3:ListBucket'], key: null, prefix: 'in/' },
      { actions: ['s3:ListBucket'], key: null, prefix: '' },
      { actions: ['s3:ListBucket'], key: null },
    ),
    address: one('192.0.2.1', '10.1.1.1', undefined),
    isSecure: fc.boolean(),
  })
  .map(({ accessKeyId, what, address, isSecure }) => ({
    accessKeyId,
    actions: what.actions,
    key: what.key,
    attributes: {
      'aws:username': accessKeyId,
      'aws:SourceIp': address,
      'aws:SecureTransport': `${isSecure}`,
      's3:prefix': 'prefix' in what ? what.prefix : undefined,
      's3:VersionId': 'version' in what ? what.version : undefined,
    },
  }))

const list = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]) as readonly string[]

function naivelyDenied(statement: Json, asked: PolicyQuestion): boolean {
  if (statement['Effect'] !== 'Deny') return false
  const named = (value: unknown): boolean =>
    value === '*' ||
    list((value as { AWS: unknown }).AWS).some(
      (name) => name === '*' || name.split('/').at(-1) === asked.accessKeyId,
    )
  if ('Principal' in statement && !named(statement['Principal'])) return false
  if ('NotPrincipal' in statement && named(statement['NotPrincipal'])) return false
  const done = (name: string) => (pattern: string) =>
    matchesWildcards(pattern.toLowerCase(), name.toLowerCase())
  const isOne = (value: unknown, name: string): boolean => list(value).some(done(name))
  if ('Action' in statement && !asked.actions.some((name) => isOne(statement['Action'], name))) return false
  if ('NotAction' in statement && asked.actions.every((name) => isOne(statement['NotAction'], name)))
    return false
  const arn = asked.key === null ? BUCKET : `${BUCKET}/${asked.key}`
  const reached = (value: unknown): boolean => list(value).some((pattern) => matchesWildcards(pattern, arn))
  if ('Resource' in statement && !reached(statement['Resource'])) return false
  if ('NotResource' in statement && reached(statement['NotResource'])) return false
  return Object.entries((statement['Condition'] ?? {}) as Record<string, Json>).every(([operator, pairs]) =>
    Object.entries(pairs).every(([key, values]) => {
      const given = (asked.attributes as Record<string, string | undefined>)[key]
      return (
        naivelyHolds(operator, given, list(values)) ||
        (given === '' && naivelyHolds(operator, undefined, list(values)))
      )
    }),
  )
}

function naivelyHolds(operator: string, given: string | undefined, values: readonly string[]): boolean {
  const isNegated = /Not/.test(operator)
  switch (operator.replace('Not', '').replace('IfExists', '')) {
    case 'Null':
      return String(given === undefined) === values[0]
    case 'StringEquals':
    case 'Bool':
      return some((value) => value === given)
    case 'StringLike':
      return some((value) => matchesWildcards(value, given ?? ''))
    case 'IpAddress':
      return some(
        (value) =>
          value === given ||
          (value.endsWith('/24') && given?.startsWith('192.0.2.') === true) ||
          (value.endsWith('/8') && given?.startsWith('10.') === true),
      )
    default:
      throw new Error(operator)
  }
  function some(test: (value: string) => boolean): boolean {
    if (given === undefined) return isNegated || operator.endsWith('IfExists')
    return values.some(test) !== isNegated
  }
}

t.test('random policies deny exactly the requests that an evaluator of the plain JSON denies', async (t) => {
  const seen = { denied: 0, passed: 0 }
  fc.assert(
    fc.property(fc.array(statements, { minLength: 1, maxLength: 3 }), questions, (given, asked) => {
      // A statement that can never apply is refused; the remaining statements must mean what they say.
      const accepted = given.filter((statement) => isAccepted(statement))
      if (accepted.length === 0) return
      const expected = accepted.some((statement) => naivelyDenied(statement, asked))
      assert.equal(denyingStatement(readBucketPolicy(policy(...accepted), PLACE), asked) >= 0, expected)
      seen[expected ? 'denied' : 'passed'] += 1
    }),
    { numRuns: RUNS, seed: 3 },
  )
  t.ok(seen.denied > 300 && seen.passed > 300, JSON.stringify(seen))
})

function isAccepted(statement: Json): boolean {
  try {
    readBucketPolicy(policy(statement), PLACE)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
