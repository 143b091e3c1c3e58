/**
 * The background work of a node: which workers there are, and how often each has a round.
 *
 * Owns: the list. Knows nothing of: when it begins and ends; src/service/service.ts runs it.
 * Rule: one round is short and bounded; remaining work is done in the next.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster, Logger, MetricSample } from '../../cluster/index.ts'
import type { SiteSecrets } from '../access/site-secrets.ts'
import type { Content } from '../content/content.ts'
import type { LastUsed } from '../access/last-used.ts'
import type { MasterKey } from '../access/master-key.ts'
import { hookSecret } from '../access/sealing-contexts.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import type { OpenSite } from '../operations/base/remote-store.ts'
import type { TargetSettings } from '../operations/notifications/target-url.ts'
import { auditWork, type AuditWorkParts } from './audit-work.ts'
import type { OpenTarget } from '../backup/targets/open-target.ts'
import type { BackingUpParts } from './backing-up.ts'
import { backupWork } from './backup-work.ts'
import { Collection } from './collection.ts'
import { Discarding } from './discarding.ts'
import { Evacuating } from './evacuating.ts'
import { Expiry } from './expiry.ts'
import { followMembers, type FollowingParts } from './following-members.ts'
import { KeyExchange, type KeyExchangeParts } from './key-exchange.ts'
import { Lifecycle } from './lifecycle.ts'
import { MembershipWorker } from './membership.ts'
import { recordLastUsed } from './last-used-recorder.ts'
import { Rebalancing } from './rebalancing.ts'
import { Recounting } from './recounting.ts'
import { endRereplications } from './rereplication.ts'
import { followRepairRate } from './repair-rate.ts'
import type { Repeating } from './repeating.ts'
import type { RestoringParts } from './restoring.ts'
import { Scrubbing } from './scrubbing.ts'
import { TenantDeletion } from './tenant-deletion.ts'
import type { UploadSessions } from './upload-sessions.ts'
import { Delivering } from './webhooks/delivering.ts'
import { LogClock } from './webhooks/log-clock.ts'
import { systemResolve } from './webhooks/guarded-connector.ts'
import { siteWork } from './site-work.ts'
import { Trimming } from './webhooks/trimming.ts'
import { WebhookSender } from './webhooks/webhook-sender.ts'
import { chunkKeys } from '../state-machine/chunks/keys.ts'

/** Background work is cheap while there is nothing to do. */
const WORK_EVERY_MS = 1_000
const DELIVER_EVERY_MS = 300
const TRIM_EVERY_MS = 60_000
const NOTE_USES_EVERY_MS = 60_000
const FOLLOW_EVERY_MS = 300
const RECOUNT_EVERY_MS = 24 * 3_600_000

export interface WorkerParts extends Omit<AuditWorkParts, 'confirmedTime' | 'often'> {
  /** Node ids of the cluster, as they are now. */
  readonly members: () => readonly string[]
  readonly founders: FollowingParts['founders']
  readonly self: FollowingParts['self']
  /** How long the body of a removed version, and then a chunk without references, is kept. ms */
  readonly collectAfterMs: number
  /** How long a joining node keeps up before it gets its vote. [decisions 12: join] ms */
  readonly promoteAfterMs: number
  readonly cluster: Cluster
  readonly state: StateReader
  readonly propose: Propose
  readonly uploads: UploadSessions
  readonly content: KeyExchangeParts['content'] & Pick<Content, 'ingest' | 'read'>
  readonly uses: LastUsed
  readonly masterKey: Pick<MasterKey, 'open' | 'seal'> & { readonly id: string }
  readonly config: RestoringParts['config']
  readonly snapshot: BackingUpParts['snapshot']
  readonly backups: { readonly openTarget: OpenTarget }
  readonly notifications: TargetSettings
  readonly openSite: OpenSite
  readonly closeSites: () => Promise<void>
  readonly siteSecrets: SiteSecrets
  readonly logger: Logger
}

export interface Work {
  readonly workers: readonly Repeating[]
  readonly samples: () => readonly MetricSample[]
  /** Ends work that a round has started and not waited for. */
  readonly close: () => Promise<void>
}

export function allWorkers(parts: WorkerParts): Work {
  const { members, collectAfterMs } = parts
  const logger = parts.logger.child({ component: 'workers' })
  const now = (): number => performance.now()
  const recounting = new Recounting({ ...parts, everyMs: RECOUNT_EVERY_MS, now, logger })
  const scrubbing = new Scrubbing({ ...parts, now, logger })
  const rebalancing = new Rebalancing({ ...parts, now, logger })
  const { time } = parts.cluster
  const confirmedTime = (): number => time.status().confirmedTime
  const shared = { ...parts, confirmedTime, now, logger }
  const collection = new Collection({ ...shared, members, delayMs: collectAfterMs })
  const expiry = new Expiry({ ...parts, confirmedTime, logger })
  const lifecycle = new Lifecycle({ ...parts, confirmedTime, logger })
  const discarding = new Discarding({ ...parts, delayMs: collectAfterMs, now, logger })
  const tenantDeletion = new TenantDeletion({ ...parts, logger })
  const keyExchange = new KeyExchange({ ...parts, confirmedTime, now, wait: (ms) => wait(ms), logger })
  const outgoing = outgoingWork(parts, logger)
  const often = { everyMs: WORK_EVERY_MS, logger }
  const audit = auditWork({ ...parts, confirmedTime, often })
  const backup = backupWork({ ...parts, confirmedTime, now, logger, often })
  const trimming = new Trimming({ ...parts, confirmedTime, logger })
  const workers: readonly Repeating[] = [
    { name: 'recounting', work: () => recounting.round(), ...often },
    { name: 'collection', work: () => collection.round(), ...often },
    { name: 'expiry', work: () => expiry.round(), ...often },
    { name: 'lifecycle', work: () => lifecycle.round(), ...often },
    ...outgoing.workers,
    { name: 'trimming', work: () => trimming.round(), ...often, everyMs: TRIM_EVERY_MS },
    { name: 'discarding', work: () => discarding.round(), ...often },
    { name: 'tenant deletion', work: () => tenantDeletion.round(), ...often },
    { name: 'key exchange', work: () => keyExchange.round(), ...often },
    ...audit.workers,
    ...followingWork(parts, logger),
    { name: 'recoveries', work: () => endRereplications({ ...parts, logger }), ...often },
    ...backup.workers,
    { name: 'rebalancing', work: () => rebalancing.round(), ...often },
    ...membershipWork(parts, now, logger),
    { name: 'scrubbing', work: () => scrubbing.round(), ...often },
  ]
  return {
    workers,
    samples: () => [
      ...recounting.metrics(),
      ...lifecycle.metrics(),
      ...keyExchange.samples(),
      ...outgoing.samples(),
      ...backup.samples(),
      ...audit.samples(),
    ],
    close: async () => {
      keyExchange.close()
      await Promise.all([outgoing.close(), audit.close(), backup.close()])
    },
  }
}

/** What follows settings and requests of this node. */
function followingWork(parts: WorkerParts, logger: Logger): readonly Repeating[] {
  const { cluster, state } = parts
  const followRate = async (): Promise<boolean> => {
    followRepairRate(cluster, state)
    return false
  }
  const recordUses = (): Promise<boolean> => recordLastUsed({ ...parts, logger })
  const keepSessions = (): Promise<boolean> => keepUploadSessions(parts)
  return [
    { name: 'repair rate', work: followRate, everyMs: WORK_EVERY_MS, logger },
    { name: 'noting uses', work: recordUses, everyMs: NOTE_USES_EVERY_MS, logger },
    { name: 'sessions', work: keepSessions, everyMs: WORK_EVERY_MS, logger },
  ]
}

async function keepUploadSessions({
  uploads,
  state,
}: Pick<WorkerParts, 'uploads' | 'state'>): Promise<boolean> {
  uploads.retire((session) => state.get(chunkKeys.session(session))?.closed === true)
  await uploads.prepare()
  await uploads.advance()
  return false
}

function membershipWork(parts: WorkerParts, now: () => number, logger: Logger): readonly Repeating[] {
  const { nodeId, membership } = parts.cluster
  const isJobRunner = (): boolean => parts.cluster.isJobRunner()
  const readBarrier = (): Promise<void> => parts.cluster.readBarrier()
  const belonging = { ...parts, nodeId, membership, isJobRunner, readBarrier, now, logger }
  const evacuating = new Evacuating({ ...parts, membership: parts.cluster.membership })
  const changing = new MembershipWorker({ ...belonging, evacuating, readyMs: parts.promoteAfterMs })
  return [
    { name: 'members', work: () => followMembers(belonging), everyMs: FOLLOW_EVERY_MS, logger },
    { name: 'membership', work: () => changing.round(), everyMs: WORK_EVERY_MS, logger },
  ]
}

/** What goes to other machines than the members: notifications, and changes of replicated buckets. */
function outgoingWork(parts: WorkerParts, logger: Logger): Work {
  const clock = new LogClock({ time: parts.cluster.time, monotonic: () => performance.now() })
  const delivering = createDelivering(parts, clock, logger)
  const sites = siteWork({ ...parts, clock, logger })
  const deliver = { name: 'delivering', work: () => delivering.round(), everyMs: DELIVER_EVERY_MS, logger }
  return {
    workers: [deliver, ...sites.workers],
    samples: () => [...delivering.samples(), ...sites.samples()],
    close: async () => void (await Promise.all([delivering.close(), sites.close()])),
  }
}

function createDelivering(parts: WorkerParts, clock: LogClock, logger: Logger): Delivering {
  const { cluster, masterKey, notifications } = parts
  const sender = new WebhookSender({
    resolve: systemResolve(),
    allowOrigins: notifications.allowOrigins,
    now: () => cluster.time.now(),
  })
  return new Delivering({
    ...parts,
    sender,
    secretOf: ({ hookId, secret }) => masterKey.open(secret, hookSecret(hookId)),
    now: () => clock.now(),
    hour: () => cluster.time.now(),
    random: Math.random,
    logger,
  })
}
