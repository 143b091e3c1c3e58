/**
 * Statements of a bucket policy as sentences. Pure.
 */
import type { BucketPolicy } from '../../../client/src/admin.ts'
import { POLICIES } from './policy-strings.ts'

type Statement = BucketPolicy['Statement'][number]

const listed = (value: string | readonly string[]): string => [value].flat().join(', ')

/** Such as "denies s3:DeleteObject to every key on arn:aws:s3:::photos/*, under conditions". */
export function statementInWords(statement: Statement): string {
  const { Effect, Principal, NotPrincipal, Action, NotAction, Resource, NotResource, Condition } = statement
  const actions = either(Action, NotAction)
  const resources = either(Resource, NotResource)
  return [
    Effect === 'Deny' ? POLICIES.denies : POLICIES.allows,
    actions,
    POLICIES.who(principalsOf(Principal, NotPrincipal)),
    POLICIES.on(resources),
    ...(Condition === undefined ? [] : [POLICIES.when]),
  ].join(' ')
}

function either(
  named: string | readonly string[] | undefined,
  not: string | readonly string[] | undefined,
): string {
  if (named !== undefined) return listed(named)
  return not === undefined ? POLICIES.every : POLICIES.not(listed(not))
}

function principalsOf(named: Statement['Principal'], not: Statement['NotPrincipal']): string {
  const shown = (value: NonNullable<Statement['Principal']>): string =>
    value === '*' ? POLICIES.everyone : listed(value.AWS)
  if (named !== undefined) return shown(named)
  return not === undefined ? POLICIES.everyone : POLICIES.not(shown(not))
}
