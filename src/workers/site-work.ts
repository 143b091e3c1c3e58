/**
 * Replication to other sites as work of a node: its parts, put together.
 */
import type { Cluster, Logger, MetricSample } from '../../cluster/index.ts'
import type { SiteSecrets } from '../access/site-secrets.ts'
import type { Propose } from '../commands/propose.ts'
import type { Content } from '../content/content.ts'
import { type OpenSite, SiteFault } from '../operations/base/remote-store.ts'
import type { SiteRecord } from '../state-machine/sites/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Repeating } from './repeating.ts'
import type { LogClock } from './webhooks/log-clock.ts'
import { Following } from './sites/following.ts'
import { keyHere, readVersion } from './sites/read-version.ts'
import { Resyncing } from './sites/resyncing.ts'
import { sendChange } from './sites/send-change.ts'
import { Sending } from './sites/sending.ts'

const SEND_EVERY_MS = 300
const RESYNC_EVERY_MS = 1_000
const FOLLOW_EVERY_MS = 5_000

export interface SiteWorkParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'clusterId' | 'readBarrier'>
  readonly state: StateReader
  readonly propose: Propose
  readonly content: Pick<Content, 'read'>
  readonly siteSecrets: SiteSecrets
  readonly openSite: OpenSite
  /** Ends the connections to all targets. */
  readonly closeSites: () => Promise<void>
  readonly clock: Pick<LogClock, 'now'>
  readonly logger: Logger
}

export interface SiteWork {
  readonly workers: readonly Repeating[]
  readonly samples: () => readonly MetricSample[]
  readonly close: () => Promise<void>
}

export function siteWork(parts: SiteWorkParts): SiteWork {
  const { cluster, clock, logger, openSite } = parts
  const now = (): number => clock.now()
  const sending = new Sending({
    ...parts,
    now,
    random: Math.random,
    send: (site, change, signal) => {
      const { clusterId } = cluster
      const { bucketId, target } = site
      const remote = openSite(site, secretOf(parts, site), signal)
      const version = readVersion(parts, site, change)
      const here = keyHere(parts, bucketId, change)
      const origin = { clusterId, bucketId }
      return sendChange({ remote, change, version, here, now: now(), origin, other: target.identity })
    },
  })
  const resyncing = new Resyncing({ ...parts, sending, now })
  const following = new Following({ ...parts, now, random: Math.random })
  return {
    workers: [
      { name: 'replication', work: () => sending.round(), everyMs: SEND_EVERY_MS, logger },
      { name: 'resync', work: () => resyncing.round(), everyMs: RESYNC_EVERY_MS, logger },
      { name: 'following', work: () => following.round(), everyMs: FOLLOW_EVERY_MS, logger },
    ],
    samples: () => [...resyncing.metrics(), ...following.samples()],
    close: async () => {
      following.close()
      await sending.close()
      await parts.closeSites()
    },
  }
}

/** Throws SiteFault. */
function secretOf({ siteSecrets }: SiteWorkParts, { bucketId, secret }: SiteRecord): string {
  try {
    return siteSecrets.open(bucketId, secret)
  } catch {
    throw new SiteFault('unreachable', 'The secret of the target cannot be opened with the keys of this node')
  }
}
