/**
 * setBucketNotifications: authorize -> exists -> valid -> commit.
 *
 * A secret is drawn for each config, because only the commit knows which ids are new; those that no new config needs are forgotten.
 * Rule: a secret is shown once, in the answer to the request that made its config.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { ConfigBounds } from '../../state-machine/events/commands.ts'
import type { HookRecord } from '../../state-machine/events/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import type { Services } from '../base/services.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { type ConfigInput, configRequests } from './config-request.ts'
import { countedOrigin } from './target-url.ts'

/** The feature level since which every node counts configs. */
const COUNTED_LEVEL = 4

export interface SetConfig {
  readonly hook: HookRecord
  /** Of a new config. */
  readonly signingSecret?: string
}

export const setBucketNotifications = dataOperation(
  {
    id: 'setBucketNotifications',
    // Deliveries tell what is written in the whole bucket. [decisions 17]
    requires: accessKey(['write', 'read'], 'whole-bucket'),
    s3Action: S3_ACTIONS.putBucketNotification,
    refuses: ['invalid_event_type', 'unsupported_target', 'quota_exceeded'],
    target: bucketTarget,
  },
  async (
    services,
    principal,
    input: { readonly bucket: string; readonly configs: readonly ConfigInput[] },
  ): Promise<readonly SetConfig[]> => {
    const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
    const policy = { settings: services.config.notifications, tenantId }
    const requests = configRequests(input.configs, policy)
    const drawn = requests.map(() => services.access.newHook())
    const configs = requests.map((requested, n) => {
      const { hookId = '', sealed = new Uint8Array(0) } = drawn[n] ?? {}
      return { ...requested, fresh: { hookId, secret: sealed } }
    })
    const bounds = await boundsOf(services, configs)
    const command = { type: 'setNotifications', tenantId, bucket, configs, ...bounds } as const
    const set = settle(await services.propose(command))
    return set.map(({ hook, isFresh }, n) => {
      const { signingSecret } = drawn[n] ?? {}
      return isFresh && signingSecret !== undefined ? { hook, signingSecret } : { hook }
    })
  },
)

/** Below the level there are none: an older node would not count. */
async function boundsOf(
  { cluster, config }: Pick<Services, 'cluster' | 'config'>,
  configs: readonly { readonly url: string }[],
): Promise<{ readonly bounds?: ConfigBounds }> {
  if (!(await cluster.reachesLevel(COUNTED_LEVEL, 0))) return {}
  const { configsPerTenantMax: configsMax, configsPerOriginMax: configsOfOriginMax } = config.limits
  return { bounds: { configsMax, configsOfOriginMax, origins: configs.map(({ url }) => countedOrigin(url)) } }
}
