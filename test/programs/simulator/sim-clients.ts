/**
 * Clients at every node: they write and read, one call after the other, and record the answers.
 *
 * Owns: calls and answers. Knows nothing of: faults, the choice of requests. Rule: an acknowledged call must have taken effect between call and
 * answer, in one order for all; a call refused for certain must never take effect; an unknown one may do either.
 */
import { Condition } from '../../../cluster/base/types.ts'
import type { Node } from '../../../cluster/node/node.ts'
import type { Owner } from './event-queue.ts'
import type { Random } from './random.ts'
import { type SimCommand, textOf } from './sim-commands.ts'
import type { SimMachine } from './sim-machine.ts'
import type { SimOracle } from './sim-oracle.ts'
import type { SimScheduler } from './sim-scheduler.ts'
import type { Look, Workload, Write } from './workload.ts'

export interface ServedHost {
  readonly id: string
  readonly place: number
  readonly process:
    | (Owner & { readonly node: Node; readonly machine: SimMachine; readonly isOpen: boolean })
    | null
}

export interface ClientsOptions {
  readonly perNode: number
  readonly thinkMs: number
  /** Reads do not wait for their barrier. Only to show that the checks detect it. */
  readonly readsAtOnce: boolean
}

/** One call as a checker of histories wants it. Times are counts that rise. */
export interface Call {
  readonly client: string
  /** `create`, `remove`: only if absent, only the expected value. `other`: a key without a model in the checker. */
  readonly kind: SimCommand['kind'] | 'read' | 'create' | 'remove' | 'other'
  readonly id: string
  readonly key: string
  readonly expected: string
  readonly call: number
  /** Null: it may or may not have happened. */
  answer: { readonly at: number; readonly output: string } | null
}

interface UnderWay {
  readonly call: Call
  readonly owner: Owner
  readonly startedMs: number
  /** Every effect up to this position had been answered to some client before this call started. */
  readonly floor: number
  readonly onEnd: Then
}

type Then = (isAnswered: boolean) => void

export class SimClients {
  readonly #scheduler: SimScheduler
  readonly #random: Random
  readonly #oracle: SimOracle
  readonly #options: ClientsOptions
  readonly #workload: Workload
  readonly #underWay = new Set<UnderWay>()
  readonly history: Call[] = []
  #moment = 0
  #ids = 0
  #highestAnswered = 0
  #isOver = false
  #thinkMs: number
  readonly counts = { acknowledged: 0, reads: 0, refused: 0, unknown: 0 }

  constructor(
    parts: {
      readonly scheduler: SimScheduler
      readonly random: Random
      readonly oracle: SimOracle
      readonly workload: Workload
    },
    options: ClientsOptions,
  ) {
    this.#scheduler = parts.scheduler
    this.#random = parts.random
    this.#oracle = parts.oracle
    this.#workload = parts.workload
    this.#options = options
    this.#thinkMs = options.thinkMs
  }

  start(hosts: readonly ServedHost[]): void {
    for (const host of hosts)
      for (let i = 0; i < this.#options.perNode; i += 1) this.#think(host, `${host.id}.${i}`)
  }

  /** Fewer calls from now on. */
  slowDown(thinkMs = 100): void {
    this.#thinkMs = Math.max(this.#thinkMs, thinkMs)
  }

  /** No new calls. */
  finish(): void {
    this.#isOver = true
  }

  get openCalls(): number {
    return this.#underWay.size
  }

  /** Virtual age of the oldest call without an answer. ms */
  get oldestMs(): number {
    let oldest = this.#scheduler.now
    for (const { startedMs } of this.#underWay) oldest = Math.min(oldest, startedMs)
    return this.#scheduler.now - oldest
  }

  /** A process is gone: its callers never get an answer. */
  abandon(owner: Owner): void {
    for (const under of this.#underWay) {
      if (under.owner !== owner) continue
      this.counts.unknown += 1
      this.#ends(under)
      under.onEnd(false)
    }
  }

  /** Writes at this host until one is acknowledged; for the end of a run. */
  writeAt(host: ServedHost, onAcknowledged: () => void): void {
    const again = (): void => {
      this.#scheduler.after(this.#thinkMs, 'client', { host }, () => this.writeAt(host, onAcknowledged))
    }
    const { process } = host
    if (process?.isOpen !== true) return again()
    const then: Then = (isAnswered) => (isAnswered ? onAcknowledged() : again())
    this.#propose(process, 'last', this.#workload.last(), then)
  }

  #think(host: ServedHost, client: string): void {
    this.#scheduler.after(this.#random.exponential(this.#thinkMs), 'client', { host }, () => {
      if (this.#isOver) return
      const again = (): void => this.#think(host, client)
      const { process } = host
      const requested = process?.isOpen === true ? this.#workload.next() : null
      if (process === null || requested === null) again()
      else if (requested.type === 'look') this.#read(process, client, requested, again)
      else this.#propose(process, client, requested, again)
    })
  }

  #propose(process: NonNullable<ServedHost['process']>, client: string, requested: Write, then: Then): void {
    const { kind, key, expected } = requested
    const id = `${client}.${(this.#ids += 1)}`
    const under = this.#begin(process, { client, kind, id, key, expected }, then)
    process.node.propose(requested.command(id)).then(
      (reply) => this.#acknowledged(under, requested, textOf(reply)),
      (error: unknown) => this.#failed(under, error),
    )
  }

  #read(process: NonNullable<ServedHost['process']>, client: string, requested: Look, then: Then): void {
    const { kind, key, expected } = requested
    const under = this.#begin(process, { client, kind, id: '', key, expected }, then)
    const barrier = this.#options.readsAtOnce ? Promise.resolve() : process.node.readBarrier()
    barrier
      .then(() => this.#readable(process))
      .then(
        () => this.#seen(under, requested, process.machine),
        (error: unknown) => this.#failed(under, error),
      )
  }

  /** A reader that finds damage retries once, as the edge of the service does. */
  async #readable({ node, machine }: NonNullable<ServedHost['process']>): Promise<void> {
    if (machine.isReadable()) return
    await node.readBarrier()
    if (!machine.isReadable()) throw new Condition('leader_not_ready', 'Damage was met twice')
  }

  #begin(owner: Owner, what: Omit<Call, 'call' | 'answer'>, then: Then): UnderWay {
    const call: Call = { ...what, call: (this.#moment += 1), answer: null }
    const under = { call, owner, startedMs: this.#scheduler.now, floor: this.#highestAnswered, onEnd: then }
    this.history.push(call)
    this.#scheduler.note(() => `${what.client} asks: ${what.kind} ${what.key} ${what.id}`)
    this.#underWay.add(under)
    return under
  }

  #acknowledged(under: UnderWay, requested: Write, reply: string): void {
    if (!this.#ends(under)) return
    const { call, floor } = under
    const effect = this.#oracle.effect(call.id)
    if (effect === null) return this.#scheduler.violate(`${call.id} was acknowledged and never took effect`)
    if (effect.reply !== reply)
      this.#scheduler.violate(`${call.id} was answered '${reply}', right is '${effect.reply}'`)
    if (effect.position <= floor)
      this.#scheduler.violate(
        `${call.id} took effect at ${effect.position}, before the answer ${floor} that came before its call`,
      )
    this.counts.acknowledged += 1
    const output = requested.reported(reply)
    if (output === null) this.#refusals.add(call)
    this.#answer(under, effect.position, output ?? 'refused')
  }

  #seen(under: UnderWay, requested: Look, machine: SimMachine): void {
    if (!this.#ends(under)) return
    const position = machine.effects
    if (position < under.floor)
      this.#scheduler.violate(
        `a read at n${under.owner.place + 1} sees ${position} effects, ${under.floor} had been answered before it began`,
      )
    this.counts.reads += 1
    this.#answer(under, position, requested.see(machine.rows))
  }

  #answer({ call, onEnd }: UnderWay, position: number, output: string): void {
    this.#highestAnswered = Math.max(this.#highestAnswered, position)
    call.answer = { at: (this.#moment += 1), output }
    this.#scheduler.hash.addText(output)
    this.#workload.learned(call, output)
    onEnd(true)
  }

  #failed(under: UnderWay, error: unknown): void {
    if (!this.#ends(under)) return
    this.#scheduler.note(() => `${under.call.client} ${under.call.id} fails: ${String(error)}`)
    if (!(error instanceof Condition)) {
      this.#scheduler.violate(
        `a call failed with ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
      )
    } else if (error.code === 'commit_unknown') {
      this.counts.unknown += 1
    } else {
      this.counts.refused += 1
      if (under.call.kind !== 'read') this.#oracle.refused(under.call.id, error.code)
      this.#refusals.add(under.call)
    }
    under.onEnd(false)
  }

  /** Calls that certainly did not happen; they belong in no history. */
  get refusals(): ReadonlySet<Call> {
    return this.#refusals
  }

  readonly #refusals = new Set<Call>()

  #ends(under: UnderWay): boolean {
    return this.#underWay.delete(under)
  }
}
