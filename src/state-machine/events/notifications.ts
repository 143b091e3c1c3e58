/**
 * The notification configs of a bucket: set, change and clear them.
 *
 * Owns: which config is which hook. Knows nothing of: valid URLs; the gateway has checked them.
 * Rules: a config that keeps its id keeps its hook, its secret and its pending deliveries; a config that is no longer named
 * delivers nothing more; a config whose bucket is deleted makes its pending deliveries before it ends.
 */
import { eventKeys } from './keys.ts'
import { bucketKeys } from '../buckets/keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import { bucketOf } from '../buckets/find-bucket.ts'
import type { BucketRecord } from '../buckets/records.ts'
import type { ConfigRequest, NotificationCommand, NotificationReplies } from './commands.ts'
import { type HookRecord, HOOKS_MAX, type Subscription } from './records.ts'
import type { Draft } from '../base/draft.ts'
import { changeHook, hooksOf } from './hooks.ts'
import { boundsFault } from './config-bounds.ts'
import { configGrowth, countConfig } from '../buckets/config-bytes.ts'
import { quotaFault } from '../usage/quota.ts'
import { configBytes } from '../usage/record-bytes.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { activeTenant } from '../tenants/tenants.ts'

type SetNotifications = Extract<NotificationCommand, { type: 'setNotifications' }>

export function setNotifications(
  draft: Draft,
  command: SetNotifications,
  context: ApplyContext,
): Accepted<NotificationReplies['setNotifications']> | Refused {
  const tenant = activeTenant(draft, command.tenantId)
  if (!tenant.ok) return tenant
  const found = bucketOf(draft, command.tenantId, command.bucket)
  if (!found.ok) return found
  const bucket = found.value
  const present = new Map(hooksOf(draft, bucket).map((hook) => [hook.id, hook]))
  const fault =
    configsFault(draft, { bucket, present }, command) ?? boundsFault(draft, [...present.values()], command)
  if (fault !== null) return fault
  const bytes = bytesOf(command, context)
  const full = quotaFault(draft, bucket.tenantId, {
    metadataBytes: configGrowth(bucket, 'notifications', bytes),
  })
  if (full !== null) return full
  const named = new Set(command.configs.map(({ id }) => id))
  for (const hook of present.values())
    if (!named.has(hook.id)) changeHook(draft, hook, { ...hook, state: 'removed' })
  const set = command.configs.map((config, n) => {
    const before = present.get(config.id)
    const requested = { ...config, countedOrigin: command.bounds?.origins[n] }
    return before === undefined
      ? { hook: newHook(draft, bucket, requested, context), isFresh: true }
      : { hook: changedHook(draft, before, requested, context), isFresh: false }
  })
  putSubscriptions(
    draft,
    bucket,
    set.map(({ hook }) => subscriptionOf(hook)),
  )
  countConfig(draft, bucket, 'notifications', bytes)
  return accept(set)
}

/** Each config counts as one record, with the texts that its caller chose. */
function bytesOf({ configs }: SetNotifications, context: ApplyContext): number {
  return configs.reduce((bytes, { id, url, prefix, suffix }) => {
    return bytes + configBytes(context, id + url + prefix + suffix)
  }, 0)
}

function configsFault(
  view: View,
  { bucket, present }: { readonly bucket: BucketRecord; readonly present: ReadonlyMap<string, HookRecord> },
  { configs }: SetNotifications,
): Refused | null {
  if (configs.length > HOOKS_MAX)
    return refuse(
      'invalid_argument',
      `Cannot set ${configs.length} configs: at most ${HOOKS_MAX} are allowed`,
    )
  if (new Set(configs.map(({ id }) => id)).size !== configs.length)
    return refuse('invalid_argument', 'Cannot set configs: two have the same id')
  const drawn = configs.filter(({ id }) => !present.has(id)).map(({ fresh }) => fresh.hookId)
  const isTaken = drawn.some((id) => !isKeyPart(id) || view.get(eventKeys.hook(bucket.id, id)) !== undefined)
  return isTaken || new Set(drawn).size !== drawn.length
    ? refuse('already_exists', 'Cannot set configs: a fresh hook id is taken or malformed')
    : null
}

/** `countedOrigin` undefined: the command names none. */
type Requested = ConfigRequest & { readonly countedOrigin: string | undefined }

function newHook(
  draft: Draft,
  bucket: BucketRecord,
  requested: Requested,
  { time }: ApplyContext,
): HookRecord {
  const { fresh, countedOrigin, ...config } = requested
  const hook: HookRecord = {
    ...config,
    ...fresh,
    ...(countedOrigin === undefined ? {} : { countedOrigin }),
    tenantId: bucket.tenantId,
    bucketId: bucket.id,
    bucket: bucket.name,
    createdAt: time,
    updatedAt: time,
    state: 'open',
    stop: null,
    pending: 0,
    dead: 0,
    delivered: 0,
    dropped: 0,
    droppedAt: null,
    failures: 0,
    failingSince: null,
    notBefore: 0,
  }
  changeHook(draft, null, hook)
  return hook
}

/** `enabled` resumes a stopped hook. Any change resets the failure counts of the receiver. */
function changedHook(
  draft: Draft,
  before: HookRecord,
  requested: Requested,
  { time }: ApplyContext,
): HookRecord {
  const { fresh: _, countedOrigin = before.countedOrigin, ...config } = requested
  const counted = countedOrigin === undefined ? before : { ...before, countedOrigin }
  const isResumed = before.stop !== null && requested.enabled
  if (!isResumed && isSame(before, config)) {
    if (countedOrigin !== before.countedOrigin) changeHook(draft, before, counted)
    return counted
  }
  const fresh = { failures: 0, failingSince: null, notBefore: 0, updatedAt: time }
  const after = { ...counted, ...config, ...fresh, stop: isResumed ? null : before.stop }
  changeHook(draft, before, after)
  return after
}

function isSame(hook: HookRecord, config: Omit<ConfigRequest, 'fresh'>): boolean {
  const { events, ...plain } = config
  const isEqual = (Object.keys(plain) as (keyof typeof plain)[]).every((name) => hook[name] === plain[name])
  return isEqual && hook.events.join() === events.join()
}

function subscriptionOf({ id, hookId, events, prefix, suffix }: HookRecord): Subscription {
  return { id, hookId, events, prefix, suffix }
}

function putSubscriptions(draft: Draft, bucket: BucketRecord, subscriptions: readonly Subscription[]): void {
  const { hasNotifications, ...plain } = bucket
  const isAny = subscriptions.length > 0
  if (isAny) draft.put(eventKeys.notifications(bucket.id), { subscriptions })
  else if (hasNotifications === true) draft.remove(eventKeys.notifications(bucket.id))
  if (isAny !== (hasNotifications === true))
    draft.put(
      bucketKeys.bucket(bucket.tenantId, bucket.name),
      isAny ? { ...plain, hasNotifications: true } : plain,
    )
}
