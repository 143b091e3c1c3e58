/**
 * The replication of a bucket or of all buckets of a tenant as the fields of a form, and back. Pure.
 *
 * Rule: a secret that is left empty is not sent, so that the one that is set stays.
 */
import type { DataOperations } from '../../../client/src/index.ts'
import { tagsOf, textOfTags } from './fields.ts'

export type ReplicationRule = DataOperations['getBucketReplication']['answer']['rules'][number]
export const DELETIONS = ['none', 'markers', 'all'] as const
type Deletions = (typeof DELETIONS)[number]

export interface ReplicationTarget {
  readonly endpoint: string
  readonly region?: string
  readonly virtualHost?: boolean
  readonly accessKeyId: string
}

export interface TargetForm {
  readonly endpoint: string
  readonly region: string
  readonly virtualHost: boolean
  /** The bucket at the target, or the beginning of the names there. */
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretKey: string
}

export interface ReplicationRuleForm {
  readonly id: string
  readonly isEnabled: boolean
  readonly prefix: string
  readonly tags: string
  readonly deletes: Deletions | ''
}

export const EMPTY_RULE: ReplicationRuleForm = { id: '', isEnabled: true, prefix: '', tags: '', deletes: '' }

/** `bucket`: as the form has it. */
export const targetFormOf = (target: ReplicationTarget | null, bucket: string): TargetForm => ({
  endpoint: target?.endpoint ?? '',
  region: target?.region ?? '',
  virtualHost: target?.virtualHost ?? false,
  bucket,
  accessKeyId: target?.accessKeyId ?? '',
  secretKey: '',
})

/** Without the bucket, which the two kinds of replication call otherwise. */
export const targetOf = ({ endpoint, region, virtualHost, accessKeyId, secretKey }: TargetForm) => ({
  endpoint: endpoint.trim(),
  accessKeyId: accessKeyId.trim(),
  ...(region.trim() === '' ? {} : { region: region.trim() }),
  ...(virtualHost ? { virtualHost } : {}),
  ...(secretKey === '' ? {} : { secretKey }),
})

export const ruleFormOf = ({ id = '', status, filter, deletes }: ReplicationRule): ReplicationRuleForm => ({
  id,
  isEnabled: status !== 'Disabled',
  prefix: filter?.prefix ?? '',
  tags: textOfTags(filter?.tags),
  deletes: deletes ?? '',
})

/** Throws InputError. */
export function replicationRuleOf(form: ReplicationRuleForm): ReplicationRule {
  const { id, isEnabled, prefix, tags, deletes } = form
  const given = tagsOf(tags)
  const filter = { ...(prefix === '' ? {} : { prefix }), ...(given === undefined ? {} : { tags: given }) }
  return {
    ...(id.trim() === '' ? {} : { id: id.trim() }),
    status: isEnabled ? 'Enabled' : 'Disabled',
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
    ...(deletes === '' ? {} : { deletes }),
  }
}

/** Every rule counts, or none does. No rule means that everything is sent, so that needs one to be paused. */
export const allSet = (
  rules: readonly ReplicationRule[],
  status: 'Enabled' | 'Disabled',
): readonly ReplicationRule[] =>
  rules.length === 0 ? [{ status }] : rules.map((rule) => ({ ...rule, status }))

/** What `rules` send: everything where there is none, nothing where none is enabled. */
export const sentBy = (rules: readonly ReplicationRule[]): 'everything' | 'nothing' | 'named' =>
  rules.length === 0 ? 'everything' : isPaused(rules) ? 'nothing' : 'named'

/** At least one rule, and none of them counts. */
export const isPaused = (rules: readonly ReplicationRule[]): boolean =>
  rules.length > 0 && rules.every(({ status }) => status === 'Disabled')
