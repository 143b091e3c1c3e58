/**
 * setBucketReplication: authorize -> exists -> valid -> the target answers and is another bucket -> commit.
 *
 * Rule: the secret of the target is sealed before it is proposed, and no answer shows it.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { settle } from '../../commands/settle.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import { identityText } from '../../state-machine/sites/mark.ts'
import type { SiteRecord } from '../../state-machine/sites/records.ts'
import { siteOf } from '../../state-machine/sites/sites.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { atTarget } from './replicated-bucket.ts'
import {
  checkSiteRules,
  checkSiteTarget,
  type SiteRuleInput,
  type SiteTargetInput,
} from './replication-config.ts'

interface SetReplicationInput {
  readonly bucket: string
  readonly target: SiteTargetInput
  readonly rules: readonly SiteRuleInput[]
  /** Whether what the bucket holds is sent too. */
  readonly existing: boolean
}

export const setBucketReplication = dataOperation(
  {
    id: 'setBucketReplication',
    // A replication shows another store what is in the whole bucket.
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putReplication,
    refuses: [
      'target_refused',
      'unsupported_target',
      'invalid_argument',
      'invalid_tag',
      'precondition_failed',
      'quota_exceeded',
    ],
    target: bucketTarget,
  },
  async (services, principal, input: SetReplicationInput): Promise<SiteRecord> => {
    const { siteSecrets, cluster, config, openSite, state, stopping } = services
    const { tenantId, name, id: bucketId, ...bucket } = findBucket(services, principal.tenantId, input.bucket)
    const rules = checkSiteRules(input.rules)
    const target = checkSiteTarget(input.target, { settings: config.notifications, tenantId })
    await requireLevel(cluster, COMMAND_LEVELS.setBucketReplication)
    const present = siteOf(state, { ...bucket, id: bucketId, tenantId, name })
    const { secretKey } = input.target
    const isKept =
      present?.target.accessKeyId === target.accessKeyId && present.target.endpoint === target.endpoint
    if (secretKey === undefined && !isKept)
      throw new Refusal(
        'invalid_request',
        'The replication is not accepted: target.secretKey is missing; it stays only while endpoint and accessKeyId stay',
      )
    const secret = secretKey === undefined ? present?.secret : siteSecrets.seal(bucketId, secretKey)
    const plain = secretKey ?? (present === undefined ? '' : siteSecrets.open(bucketId, present.secret))
    const own = identityText({ clusterId: cluster.clusterId, bucketId })
    const full = { ...target, identity: null }
    const { identity } = await atTarget(openSite({ tenantId, target: full }, plain, stopping).probe())
    const there = identity === null ? null : identityText(identity)
    if (there === own)
      throw new Refusal('target_refused', `The target is the bucket "${name}" itself: name another bucket`)
    const command = { type: 'setBucketReplication', tenantId, name, bucketId } as const
    const sealed = secret ?? new Uint8Array(0)
    const { existing } = input
    const requested = { target: { ...target, identity: there }, secret: sealed, rules, existing }
    return settle(await services.propose({ ...command, ...requested }))
  },
)
