/**
 * What good replication is: the target as text, and the rules.
 *
 * Owns: the checks that need no stored data and no connection. Rule: what contradicts itself, or could never act, is refused with the name of the
 * field, because its author meant something else.
 */
import { UNPRINTABLE } from '../../base/printable.ts'
import { Refusal } from '../../base/refusal.ts'
import { isKeyPart } from '../../state-machine/base/row-key.ts'
import {
  SITE_RULES_MAX,
  type SiteDeletes,
  type SiteRule,
  type SiteTarget,
  type TenantSiteTarget,
} from '../../state-machine/sites/records.ts'
import { checkTags } from '../base/tags.ts'
import { checkTarget, type TargetPolicy } from '../notifications/target-url.ts'
import { KEY_BYTES_MAX } from '../objects/object-key.ts'

export const SITE_RULE_ID_CHARACTERS_MAX = 255
export const SITE_REGION_USUAL = 'us-east-1'
export const SITE_DELETES: readonly SiteDeletes[] = ['none', 'markers', 'all']
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const BUCKET_PREFIX = /^([a-z0-9][a-z0-9.-]{0,31})?$/
const REGION = /^[a-z0-9][a-z0-9-]{0,62}$/
const ACCESS_KEY_ID = /^[\x21-\x7e]{1,128}$/
const SECRET = /^[\x21-\x7e]{1,256}$/

export interface SiteTargetInput {
  readonly endpoint: string
  readonly bucket: string
  readonly region?: string
  readonly virtualHost?: boolean
  readonly accessKeyId: string
  /** Absent: the present one stays. */
  readonly secretKey?: string
}

export interface TenantTargetInput extends Omit<SiteTargetInput, 'bucket'> {
  readonly bucketPrefix?: string
}

export interface SiteRuleInput {
  readonly id?: string
  readonly status?: string
  readonly filter?: {
    readonly prefix?: string
    readonly tags?: readonly (readonly [name: string, value: string])[]
  }
  readonly deletes?: string
}

/** Throws Refusal invalid_request, invalid_argument, unsupported_target. */
export function checkSiteTarget(input: SiteTargetInput, policy: TargetPolicy): Omit<SiteTarget, 'identity'> {
  const { bucket } = input
  const place = checkStore(input, policy)
  if (!isTargetBucket(bucket))
    refuseValue('target.bucket', `is "${bucket.slice(0, 80)}", which is no name of a bucket`)
  return { ...place, bucket }
}

/** Throws as `checkSiteTarget`. */
export function checkTenantTarget(input: TenantTargetInput, policy: TargetPolicy): TenantSiteTarget {
  const { bucketPrefix = '' } = input
  const place = checkStore(input, policy)
  if (!BUCKET_PREFIX.test(bucketPrefix))
    refuseValue(
      'target.bucketPrefix',
      `is "${bucketPrefix.slice(0, 80)}": give at most 32 of a-z, 0-9, "-" and ".", the first a letter or digit, or nothing`,
    )
  return { ...place, bucketPrefix }
}

export function isTargetBucket(name: string): boolean {
  return BUCKET_NAME.test(name)
}

function checkStore(
  input: Omit<SiteTargetInput, 'bucket'>,
  policy: TargetPolicy,
): Omit<SiteTarget, 'identity' | 'bucket'> {
  const { endpoint, region = SITE_REGION_USUAL, virtualHost = false, accessKeyId, secretKey } = input
  checkTarget(endpoint, policy)
  const url = new URL(endpoint)
  if (url.search !== '' || url.pathname !== '/')
    refuseValue(
      'target.endpoint',
      'has a path: give the address of the store alone, such as https://s3.example.net',
    )
  if (!REGION.test(region))
    refuseValue('target.region', `is "${region.slice(0, 80)}": give one such as ${SITE_REGION_USUAL}`)
  if (!ACCESS_KEY_ID.test(accessKeyId))
    refuseValue('target.accessKeyId', 'must be 1 to 128 visible ASCII characters')
  if (secretKey !== undefined && !SECRET.test(secretKey))
    refuseValue('target.secretKey', 'must be 1 to 256 visible ASCII characters')
  return { endpoint: url.origin, region, isVirtualHost: virtualHost, accessKeyId }
}

/** A rule without an id gets one; no rules: one for everything. Throws Refusal invalid_request, invalid_argument, invalid_tag. */
export function checkSiteRules(inputs: readonly SiteRuleInput[]): readonly SiteRule[] {
  if (inputs.length > SITE_RULES_MAX)
    refuse('rules', `has ${inputs.length} rules: at most ${SITE_RULES_MAX} are allowed`)
  const given = inputs.length === 0 ? [{ id: 'everything' }] : inputs
  const ids = new Set(given.map(({ id }) => id))
  const rules = given.map((rule, n) => checkRule({ ...rule, id: rule.id ?? freeId(ids, n) }, `rules.${n}`))
  for (const [n, rule] of rules.entries()) {
    if (rules.slice(0, n).some(({ id }) => id === rule.id))
      refuseValue(`rules.${n}.id`, `is "${rule.id}" like that of an earlier rule`)
    const earlier = rules.slice(0, n).find((one) => isCovered(rule, one))
    if (earlier !== undefined)
      refuse(
        `rules.${n}`,
        `never decides, because the earlier rule "${earlier.id}" names all that it names: put it first, or leave it out`,
      )
  }
  return rules
}

/** Whether an enabled `earlier` names everything that `rule` names. */
function isCovered(rule: SiteRule, earlier: SiteRule): boolean {
  if (!rule.isEnabled || !earlier.isEnabled || !rule.prefix.startsWith(earlier.prefix)) return false
  return Object.entries(earlier.tags).every(([name, value]) => rule.tags[name] === value)
}

function checkRule(rule: SiteRuleInput & { readonly id: string }, at: string): SiteRule {
  const { id, status = 'Enabled', filter = {}, deletes } = rule
  if (id === '' || Array.from(id).length > SITE_RULE_ID_CHARACTERS_MAX || UNPRINTABLE.test(id))
    refuseValue(
      `${at}.id`,
      `must have 1 to ${SITE_RULE_ID_CHARACTERS_MAX} characters, and no control characters`,
    )
  if (status !== 'Enabled' && status !== 'Disabled')
    refuseValue(`${at}.status`, `is "${status.slice(0, 80)}": give Enabled or Disabled`)
  const { prefix = '' } = filter
  if (Buffer.byteLength(prefix) > KEY_BYTES_MAX || (prefix !== '' && !isKeyPart(prefix)))
    refuseValue(
      `${at}.filter.prefix`,
      `is no beginning of a key: at most ${KEY_BYTES_MAX} bytes of valid Unicode`,
    )
  const tags = checkTags(filter.tags ?? [])
  const hasTags = Object.keys(tags).length > 0
  const wanted = deletes ?? (hasTags ? 'none' : 'markers')
  if (!isDeletes(wanted))
    refuseValue(`${at}.deletes`, `is "${wanted.slice(0, 80)}": give none, markers or all`)
  if (hasTags && wanted !== 'none')
    refuse(
      at,
      'has tags in its filter and replicates deletions, which have none: give "deletes": "none", or a rule without tags',
    )
  return { id, isEnabled: status === 'Enabled', prefix, tags, deletes: wanted }
}

function freeId(ids: Set<string | undefined>, n: number): string {
  let number = n + 1
  while (ids.has(`rule-${number}`)) number++
  ids.add(`rule-${number}`)
  return `rule-${number}`
}

function isDeletes(text: string): text is SiteDeletes {
  return (SITE_DELETES as readonly string[]).includes(text)
}

/** For what contradicts itself or could never act. */
function refuse(at: string, fault: string): never {
  throw new Refusal('invalid_request', `The replication is not accepted: ${at} ${fault}`)
}

/** For a value that is none. */
function refuseValue(at: string, fault: string): never {
  throw new Refusal('invalid_argument', `The replication is not accepted: ${at} ${fault}`)
}
