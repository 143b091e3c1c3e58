/**
 * Reads a bucket policy: the part of the AWS policy language that can speak of one bucket and its access keys.
 *
 * Owns: which statements there are. Knows nothing of: requests; evaluation.ts decides.
 * Rule: it fails closed. What is unknown, misspelt or could never apply is refused by name, because a denial that is passed over
 * in silence is an open door.
 */
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import { BUCKET_POLICY_BYTES_MAX } from '../../state-machine/buckets/records.ts'
import { type Condition, readConditions } from './conditions.ts'
import {
  eitherOf,
  hintAt,
  malformed,
  type Members,
  membersAt,
  shown,
  textAt,
  textsAt,
} from './policy-json.ts'
import { KNOWN_ACTIONS, type KnownAction } from './s3-actions.ts'
import { matchesWildcards, repeatedChars } from './wildcards.ts'

export const STATEMENTS_MAX = 100
/** Of patterns that can be compared again and again with one key: what the decision on a request may cost has a bound. */
const REPEATED_CHARS_MAX = 1000
export const POLICY_VERSIONS = ['2012-10-17', '2008-10-17']
const POLICY_MEMBERS = ['Version', 'Id', 'Statement']
const STATEMENT_MEMBERS = [
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
]
const ACCESS_KEY_ID = /^[A-Z0-9]{1,64}$/
const ACTION = /^(?:\*|s3:[a-z*?]+)$/i
const BUCKET_ARN = 'arn:aws:s3:::'

/** What a policy belongs to. */
export interface PolicyPlace {
  readonly tenantId: TenantId
  readonly bucket: string
}

export interface Choice {
  /** Everything but what the patterns match. */
  readonly isNegated: boolean
  readonly patterns: readonly string[]
}

export interface Statement {
  readonly sid: string | null
  readonly effect: 'Allow' | 'Deny'
  /** Access key ids, or `*`. */
  readonly principals: Choice
  /** In lower case. */
  readonly actions: Choice
  /** Patterns of object keys; `hasBucket`: the bucket itself is among what they match. */
  readonly resources: Choice & { readonly hasBucket: boolean }
  readonly conditions: readonly Condition[]
}

export interface BucketPolicy {
  readonly statements: readonly Statement[]
}

/** Throws Refusal invalid_request that names the place and what was expected there. */
export function readBucketPolicy(value: unknown, place: PolicyPlace): BucketPolicy {
  const policy = membersAt(value, '', POLICY_MEMBERS)
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > BUCKET_POLICY_BYTES_MAX)
    malformed('', `has ${bytes} bytes as JSON, at most ${BUCKET_POLICY_BYTES_MAX}`)
  const { Version = POLICY_VERSIONS[0], Id = '', Statement } = policy
  if (!POLICY_VERSIONS.some((version) => version === Version))
    malformed('Version', `must be one of ${POLICY_VERSIONS.join(', ')}`)
  textAt(Id, 'Id')
  if (!Array.isArray(Statement)) return malformed('Statement', 'must be a list of statements')
  if (Statement.length < 1 || Statement.length > STATEMENTS_MAX)
    malformed('Statement', `has ${Statement.length} statements: give 1 to ${STATEMENTS_MAX}`)
  const statements = Statement.map((statement, n) => readStatement(statement, `Statement.${n}`, place))
  refuseTwins(statements)
  refuseDear(statements)
  return { statements }
}

/** The access keys that a policy speaks of. */
export function accessKeysIn({ statements }: BucketPolicy): ReadonlySet<string> {
  const named = statements.flatMap(({ principals }) => principals.patterns)
  return new Set(named.filter((name) => name !== '*'))
}

function readStatement(value: unknown, where: string, place: PolicyPlace): Statement {
  const members = membersAt(value, where, STATEMENT_MEMBERS)
  const { Sid, Effect, Condition: conditions = {} } = members
  if (Effect !== 'Allow' && Effect !== 'Deny')
    return malformed(`${where}.Effect`, 'must be "Allow" or "Deny"')
  const principals = readPrincipals(members, where, place.tenantId)
  const actions = readActions(members, where)
  const resources = readResources(members, where, place.bucket)
  refuseMisfits(where, { actions, resources })
  return {
    sid: Sid === undefined ? null : textAt(Sid, `${where}.Sid`),
    effect: Effect,
    principals,
    actions,
    resources,
    conditions: readConditions(conditions, `${where}.Condition`, chosenActions(actions)),
  }
}

function readPrincipals(members: Members, where: string, tenantId: TenantId): Choice {
  const { isNegated, value, where: place } = eitherOf(members, where, ['Principal', 'NotPrincipal'])
  if (value === '*') return { isNegated, patterns: ['*'] }
  if (typeof value === 'string')
    malformed(place, 'must be "*", or an object such as {"AWS": "<access key id>"}')
  const { AWS } = membersAt(value, place, ['AWS'])
  const names = textsAt(AWS, `${place}.AWS`)
  return { isNegated, patterns: names.map((name) => principalNamed(name, `${place}.AWS`, tenantId)) }
}

function principalNamed(name: string, where: string, tenantId: TenantId): string {
  const user = `arn:aws:iam::${tenantId}:user/`
  const id = name.startsWith(user) ? name.slice(user.length) : name
  if (id === '*' && id === name) return id
  if (ACCESS_KEY_ID.test(id)) return id
  return malformed(where, `names ${shown(name)}: give "*", an access key id, or ${user}<access key id>`)
}

function readActions(members: Members, where: string): Choice {
  const { isNegated, value, where: place } = eitherOf(members, where, ['Action', 'NotAction'])
  const patterns = textsAt(value, place).map((name) => {
    const pattern = name.toLowerCase()
    if (ACTION.test(name) && knownMatching([pattern]).length > 0) return pattern
    const known = KNOWN_ACTIONS.map((action) => action.name)
    return malformed(place, `names ${shown(name)}, which is no action here: ${hintAt(name, known)}`)
  })
  return { isNegated, patterns }
}

function readResources(members: Members, where: string, bucket: string): Statement['resources'] {
  const { isNegated, value, where: place } = eitherOf(members, where, ['Resource', 'NotResource'])
  const own = BUCKET_ARN + bucket
  const patterns: string[] = []
  let hasBucket = false
  for (const name of textsAt(value, place)) {
    if (name.includes('${'))
      malformed(place, `holds a variable in ${shown(name)}: variables are not supported`)
    if (name === own) hasBucket = true
    else if (name.startsWith(`${own}/`) && name.length > own.length + 1)
      patterns.push(name.slice(own.length + 1))
    else
      malformed(
        place,
        `names ${shown(name)}: give "${own}" for the bucket, or "${own}/" and keys, such as "${own}/*"`,
      )
  }
  return { isNegated, patterns, hasBucket }
}

/** What is done to objects is never done to a bucket: such a pair matches nothing, and was meant otherwise. */
function refuseMisfits(
  where: string,
  { actions, resources }: Pick<Statement, 'actions' | 'resources'>,
): void {
  if (actions.isNegated || resources.isNegated) return
  const reaches = ({ on }: KnownAction): boolean =>
    on === 'bucket' ? resources.hasBucket : resources.patterns.length > 0
  for (const pattern of actions.patterns)
    if (!knownMatching([pattern]).some(reaches))
      malformed(`${where}.Action`, `names ${shown(pattern)}, which is done to nothing that "Resource" names`)
  const kinds = new Set(knownMatching(actions.patterns).map(({ on }) => on))
  if (resources.hasBucket && !kinds.has('bucket'))
    malformed(`${where}.Resource`, 'names the bucket, to which no action of the statement is done')
  if (resources.patterns.length > 0 && !kinds.has('object'))
    malformed(`${where}.Resource`, 'names keys, to which no action of the statement is done')
}

function refuseDear(statements: readonly Statement[]): void {
  const chars = statements
    .flatMap(({ resources, conditions }) => [
      ...resources.patterns.map(repeatedChars),
      ...conditions.map((condition) => condition.repeatedChars),
    ])
    .reduce((sum, each) => sum + each, 0)
  if (chars > REPEATED_CHARS_MAX)
    malformed(
      '',
      `has patterns with a "*" before their end of ${chars} characters in all, at most ${REPEATED_CHARS_MAX}`,
    )
}

function refuseTwins(statements: readonly Statement[]): void {
  const seen = new Set<string>()
  for (const [n, { sid }] of statements.entries()) {
    if (sid === null) continue
    if (seen.has(sid)) malformed(`Statement.${n}.Sid`, `is ${shown(sid)}, as that of another statement`)
    seen.add(sid)
  }
}

function chosenActions({ isNegated, patterns }: Choice): readonly KnownAction[] {
  const matching = knownMatching(patterns)
  return isNegated ? KNOWN_ACTIONS.filter((action) => !matching.includes(action)) : matching
}

function knownMatching(patterns: readonly string[]): readonly KnownAction[] {
  return KNOWN_ACTIONS.filter(({ lowerName }) =>
    patterns.some((pattern) => matchesWildcards(pattern, lowerName)),
  )
}
