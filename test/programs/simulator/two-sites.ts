/**
 * Replication between the simulated group and a second site, in both directions.
 *
 * Owns: the second site, the lines, the senders of the processes, the clients of the second site. Knows nothing of: the requests of the group's clients.
 * Rule: what a process began ends with it, but for requests that it has sent.
 */
import { Condition } from '../../../cluster/base/types.ts'
import { decodeReply } from '../../../src/commands/command-codec.ts'
import type { View } from '../../../src/state-machine/base/view.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import { siteKeys } from '../../../src/state-machine/sites/keys.ts'
import { identityText } from '../../../src/state-machine/sites/mark.ts'
import type { SiteStateRecord } from '../../../src/state-machine/sites/records.ts'
import { LogClock } from '../../../src/workers/webhooks/log-clock.ts'
import { remove } from '../../state-machine/map-world.ts'
import type { Owner } from './event-queue.ts'
import type { ObjectOracle } from './object-oracle.ts'
import { encodeCall, viewOf } from './object-rules.ts'
import { Random } from './random.ts'
import { REPLICATED, type Replicated, SECOND, SecondSite, stateOf, TENANT } from './second-site.ts'
import { differences, ReplicaOrder, type Side } from './site-judge.ts'
import { SiteGateway } from './site-gateway.ts'
import { SiteLine, type Travel } from './site-line.ts'
import { replicationOf, SITE_KEYS, sitePut } from './site-steps.ts'
import { siteSender } from './site-sender.ts'
import { SimReader } from './sim-reader.ts'
import type { SimProcess } from './sim-process.ts'
import type { Beside, BesideParts } from './sim-setup.ts'
import type { SimWorld } from './sim-world.ts'

export const FIRST = 'sim'
const ROUND_MS = 20
const CLIENT_MS = 400

export interface SiteFigures {
  readonly requests: number
  /** Requests that took effect although their answer says nothing, and those that were lost. */
  readonly lies: number
  readonly lost: number
  readonly outages: number
  readonly replicas: number
  readonly conflicts: number
}

export class TwoSites {
  readonly #world: SimWorld
  readonly #oracle: ObjectOracle
  readonly #random: Random
  readonly #line: SiteLine
  readonly second: SecondSite
  /** Of the replicas that come from the second site. */
  readonly order = new ReplicaOrder()
  /** Time of the newest entry of the group's log. */
  time = 0
  #proposals = 0
  #puts = 0

  constructor(world: SimWorld, oracle: ObjectOracle, violate: (broken: string) => void) {
    this.#world = world
    this.#oracle = oracle
    this.#random = new Random(world.plan.seed, 'sites')
    this.#line = new SiteLine(world, new Random(world.plan.seed, 'lines'))
    this.second = new SecondSite({
      now: () => this.time,
      random: () => this.#random.fraction(),
      gateway: (bucket) => this.#toFirst(bucket),
      violate,
      noted: (command, reply) => this.noted('the second site', command, reply),
    })
  }

  /** Once, when the world is there. */
  start(): void {
    this.#line.start()
    this.#round()
    this.#client()
  }

  get figures(): SiteFigures {
    const states = [...REPLICATED.map((name) => this.#stateHere(name)), this.second.state]
    const conflicts = states.reduce((sum, state) => sum + (state?.conflicts ?? 0), 0)
    return { ...this.#line.counts, replicas: this.order.made + this.second.order.made, conflicts }
  }

  /** For the trace. */
  noted(where: string, command: Command, reply: Reply): void {
    const { scheduler } = this.#world
    scheduler.note(() => {
      const { type, key = '', versionId = '', etag = '' } = command as Partial<Record<string, unknown>>
      const said = reply.ok ? JSON.stringify(reply.value)?.slice(0, 300) : reply.code
      return `${where}: ${[type, key, versionId, etag].map(String).join(' ')} -> ${said ?? ''}`
    })
  }

  /** The work of one process. */
  beside(parts: BesideParts): Beside {
    let process: SimProcess | null = null
    const { host, clock, owner, logger, world } = parts
    return {
      attach: (attached) => {
        process = attached
      },
      begin: () => {
        if (process === null) return
        const { node, machine } = process
        const time = new LogClock({ time: node.time, monotonic: () => clock.now() })
        const sender = siteSender({
          clusterId: FIRST,
          isJobRunner: () => node.isJobRunner(),
          readBarrier: () => node.readBarrier(),
          reader: new SimReader(() => (machine.isReadable() ? machine.rows : null)),
          propose: (command) => this.#propose(process, `${host.incarnation}.${host.boot}`, command),
          now: () => time.now(),
          random: () => this.#random.fraction(),
          gateway: (bucket) =>
            new SiteGateway({
              tenantId: TENANT,
              bucket,
              clusterId: SECOND,
              rows: async () => this.second.side.view,
              run: async (command) => this.second.run(command),
              travel: (request, effect) => this.#line.travel(travelOf(owner, request, bucket), effect),
            }),
          logger,
        })
        const round = (): void => {
          Promise.all([sender.sending.round(), sender.resyncing.round()]).then(
            () => void clock.after(ROUND_MS, round),
            (error: unknown) => {
              if (!(error instanceof Condition))
                world.scheduler.violate(`replication of ${host.id} ends in ${String((error as Error).stack)}`)
              clock.after(ROUND_MS, round)
            },
          )
        }
        clock.after(ROUND_MS, round)
      },
    }
  }

  /** Nothing waits, here or there, or an operator has to look at it. */
  get isSettled(): boolean {
    const states = [...REPLICATED.map((name) => this.#stateHere(name)), this.second.state]
    if (this.#idHere('both') !== '' && this.second.state === undefined) return false
    return states.every(
      (state) =>
        state === undefined ||
        (state.pending === 0 && (state.resync === null || state.resync.endedAt !== null)),
    )
  }

  get waiting(): string {
    const states = [...REPLICATED.map((name) => this.#stateHere(name)), this.second.state]
    return states
      .flatMap((state) => (state === undefined ? [] : [state]))
      .map(({ bucket, pending, failed, sent, skipped, conflicts, lastError }) =>
        [bucket, { pending, failed, sent, skipped, conflicts, lastError }]
          .map((one) => JSON.stringify(one))
          .join(' '),
      )
      .join(', ')
  }

  /** What is left when nothing waits any more. */
  differences(): readonly string[] {
    const here: Side = { clusterId: FIRST, view: this.#oracle.world, time: this.time }
    const there: Side = { ...this.second.side, time: this.time }
    this.second.finish()
    return REPLICATED.flatMap((bucket) => {
      const [isOneWay, hasVersions] = [bucket !== 'both', bucket !== 'flat']
      const site = this.#oracle.world.get(siteKeys.site(this.#idHere(bucket)))
      // The walk ended before its replication was set.
      if (site === undefined) return []
      const since = site.updatedAt
      const compared = { tenantId: TENANT, bucket, keys: SITE_KEYS, isOneWay, hasVersions, since }
      return differences(compared, here, there)
    })
  }

  #stateHere(name: Replicated): SiteStateRecord | undefined {
    return stateOf(this.#oracle.world, this.#idHere(name))
  }

  #idHere(name: Replicated): string {
    return this.#oracle.world.get(bucketKeys.bucket(TENANT, name))?.id ?? ''
  }

  async #propose(process: SimProcess | null, from: string, command: Command): Promise<Reply> {
    if (process === null) throw new Condition('shutting_down', 'there is no process')
    this.#proposals += 1
    return decodeReply(await process.node.propose(encodeCall(`${from}.s${this.#proposals}`, command)))
  }

  /** A node of the group that says that it is ready, as a balancer would choose. */
  #gatewayProcess(): SimProcess {
    const isReady = (process: SimProcess): boolean => process.isOpen && process.node.readiness().ready
    const open = this.#world.hosts.flatMap(({ process }) =>
      process !== null && isReady(process) ? [process] : [],
    )
    if (open.length === 0) throw new Condition('no_quorum', 'no node takes requests')
    return this.#random.pick(open)
  }

  #toFirst(bucket: string): SiteGateway {
    const rows = async (): Promise<View> => {
      const { node, machine } = this.#gatewayProcess()
      await node.readBarrier()
      if (!machine.isReadable()) throw new Condition('leader_not_ready', 'the state is being replaced')
      return viewOf(machine.rows)
    }
    return new SiteGateway({
      tenantId: TENANT,
      bucket,
      clusterId: FIRST,
      rows,
      run: (command) => this.#propose(this.#gatewayProcess(), 'second', command),
      travel: (request, effect) => this.#line.travel(travelOf(null, request, bucket), effect),
    })
  }

  #round(): void {
    const { scheduler } = this.#world
    this.#replicateBack()
    const { sending, resyncing } = this.second.sender
    Promise.all([sending.round(), resyncing.round()]).then(
      () => void scheduler.after(ROUND_MS, 'round of the second site', {}, () => this.#round()),
      (error: unknown) => scheduler.violate(`the second site ends in ${String((error as Error).stack)}`),
    )
  }

  /** Once the bucket of the group is there. */
  #replicateBack(): void {
    const bucketId = this.#idHere('both')
    if (bucketId === '' || this.second.state !== undefined) return
    const identity = identityText({ clusterId: FIRST, bucketId })
    this.second.run(replicationOf('both', this.second.idOf('both'), identity))
  }

  #client(): void {
    const { scheduler } = this.#world
    scheduler.after(this.#random.exponential(CLIENT_MS), 'client of the second site', {}, () => {
      if (this.#world.isCalm) return
      // What was deleted before is not found by the walk.
      if (this.second.state === undefined || this.#stateHere('both') === undefined) return this.#client()
      const key = this.#random.pick(SITE_KEYS)
      this.#puts += 1
      const isPut = this.#random.chance(0.7)
      const command = isPut
        ? sitePut('both', key, { n: this.#puts, from: 'b' })
        : { ...remove(key, null, 'both'), tenantId: TENANT }
      this.second.run(command)
      this.#client()
    })
  }
}

/**
 * Without versions nothing remembers a deletion: an upload that is late finds what it expects. A change of tags or locks expects nothing.
 * [RELIABILITY.md, not promised]
 */
function travelOf(caller: Owner | null, request: string, bucket: string): Travel {
  const isUpload = request.startsWith('put')
  const mayBeLate = isUpload ? bucket !== 'flat' : request.startsWith('remove')
  return { caller, request, mayBeLate }
}
