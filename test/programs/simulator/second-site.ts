/**
 * A second cluster, as one log that never fails: the state machine of the service, the real sender, clients of its own.
 *
 * Owns: its rows and its time, the requests that the first site makes there. Knows nothing of: nodes; the first site's half is in site-sending.ts.
 * Rule: its clock is the time of the first site's log, because replication in both directions needs clocks that agree.
 */
import assert from 'node:assert/strict'
import { FEATURE_LEVEL } from '../../../cluster/node/base/feature-level.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { View } from '../../../src/state-machine/base/view.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { siteKeys } from '../../../src/state-machine/sites/keys.ts'
import type { SiteStateRecord } from '../../../src/state-machine/sites/records.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { createBucket, createTenant } from '../../state-machine/map-world.ts'
import { ObjectOracle } from './object-oracle.ts'
import { encodeCall, OBJECT_RULES, replyIn, viewOf } from './object-rules.ts'
import { ReplicaOrder, type Side } from './site-judge.ts'
import { siteSender, type SiteSender } from './site-sender.ts'
import { SimReader } from './sim-reader.ts'
import { SimRows } from './sim-rows.ts'

export const SECOND = 'second'
export const TENANT = 'two'
/** `sent`: versions, locks, one way. `flat`: no versions, one way. `both`: versions, both ways. */
export const REPLICATED = ['sent', 'flat', 'both'] as const
export type Replicated = (typeof REPLICATED)[number]

export function bucketCommand(name: Replicated): Extract<Command, { type: 'createBucket' }> {
  const versioning = name === 'flat' ? 'Unversioned' : 'Enabled'
  return createBucket(name, { tenantId: TENANT, versioning, objectLockEnabled: name === 'sent' })
}

export interface SecondSiteParts {
  /** The time of the first site's log. ms since 1970 */
  readonly now: () => number
  readonly random: () => number
  readonly gateway: Parameters<typeof siteSender>[0]['gateway']
  readonly violate: (broken: string) => void
  readonly noted: (command: Command, reply: Reply) => void
}

export class SecondSite {
  readonly #parts: SecondSiteParts
  readonly #oracle: ObjectOracle
  readonly #rows = new SimRows()
  readonly order = new ReplicaOrder()
  readonly reader = new SimReader(() => this.#rows)
  readonly sender: SiteSender
  #index = 0
  #time = 0

  constructor(parts: SecondSiteParts) {
    this.#parts = parts
    this.#oracle = new ObjectOracle((broken) => parts.violate(`second site: ${broken}`))
    this.sender = siteSender({
      clusterId: SECOND,
      isJobRunner: () => true,
      readBarrier: () => Promise.resolve(),
      reader: this.reader,
      propose: (command) => Promise.resolve(this.run(command)),
      now: parts.now,
      random: parts.random,
      gateway: parts.gateway,
      logger: SILENT,
    })
    for (const command of [createTenant(TENANT), ...REPLICATED.map(bucketCommand)])
      assert(this.run(command).ok, 'the second site is set up')
  }

  run(command: Command): Reply {
    const { now, violate } = this.#parts
    this.#index += 1
    this.#time = Math.max(this.#time, now())
    const time = this.#time
    const times = { time, confirmedTime: time, orderTime: time, featureLevel: FEATURE_LEVEL }
    const commands = [encodeCall(`b${this.#index}`, command)]
    const entry = { index: this.#index, ...times, commands }
    const { replies, changes } = OBJECT_RULES.perform([entry], this.#rows)
    for (const [key, value] of changes) this.#rows.set(key, value)
    const [given = []] = replies
    this.#oracle.took(entry, given)
    this.#oracle.settled(changes)
    const reply = replyIn(given[0] ?? '')
    this.#parts.noted(command, reply)
    try {
      this.order.took(command, reply)
    } catch (error) {
      violate(`at the second site ${error instanceof Error ? error.message : String(error)}`)
    }
    return reply
  }

  get side(): Side {
    return { clusterId: SECOND, view: viewOf(this.#rows), time: this.#time }
  }

  idOf(bucket: Replicated): string {
    return this.side.view.get(bucketKeys.bucket(TENANT, bucket))?.id ?? ''
  }

  /** What waits for the first site. */
  get state(): SiteStateRecord | undefined {
    return stateOf(this.side.view, this.idOf('both'))
  }

  finish(): void {
    this.#oracle.finish()
  }
}

export function stateOf(view: View, bucketId: string): SiteStateRecord | undefined {
  return view.get(siteKeys.siteState(bucketId))
}
