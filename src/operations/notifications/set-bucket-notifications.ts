/**
 * setBucketNotifications: authorize -> exists -> valid -> commit.
 *
 * A secret is drawn for each config, because only the commit knows which ids are new; those that nobody needed are forgotten.
 * Rule: a secret is shown once, in the answer to the request that made its config.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { HookRecord } from '../../state-machine/events/records.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { type ConfigInput, configRequests } from './config-request.ts'

export interface SetConfig {
  readonly hook: HookRecord
  /** Of a new config. */
  readonly signingSecret?: string
}

export async function setBucketNotifications(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string; readonly configs: readonly ConfigInput[] },
): Promise<readonly SetConfig[]> {
  authorize(principal, 'setBucketNotifications', { bucket: input.bucket }, services.state)
  const { tenantId, name: bucket } = findBucket(services, principal.tenantId, input.bucket)
  const wishes = configRequests(input.configs, services.config.notifications)
  const drawn = wishes.map(() => services.access.newHook())
  const configs = wishes.map((requested, n) => {
    const { hookId = '', sealed = new Uint8Array(0) } = drawn[n] ?? {}
    return { ...requested, fresh: { hookId, secret: sealed } }
  })
  const set = settle(await services.propose({ type: 'setNotifications', tenantId, bucket, configs }))
  return set.map(({ hook, isFresh }, n) => {
    const { signingSecret } = drawn[n] ?? {}
    return isFresh && signingSecret !== undefined ? { hook, signingSecret } : { hook }
  })
}
