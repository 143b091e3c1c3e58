/**
 * Kills and pauses real nodes one fault after the other, and heals each before the next.
 *
 * Owns: the order of faults, which follows only from the seed, and the waits in between. Knows nothing of: what the
 * clients observe. Rule: the only times are the lengths of pauses; everything else waits for a condition.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../programs/simulator/invented-history.ts'
import { until } from './async.ts'
import type { ProcessCluster } from './process-cluster.ts'
import type { RecordedWork } from './recorded-work.ts'

const FAULTS = ['kill leader', 'pause leader', 'kill follower', 'pause follower', 'kill all'] as const
type Fault = (typeof FAULTS)[number]

/** From less than a heartbeat interval to far more than any election takes. */
const PAUSES_MS = [200, 700, 1500, 3000, 5000]
/** Operations that each living node answers before the next step. */
const ANSWERS_BETWEEN = 10

export class ProcessNemesis {
  /** The injected faults, in order. */
  readonly done: string[] = []
  readonly #cluster: ProcessCluster
  readonly #work: RecordedWork
  readonly #random: Random
  #bag: Fault[] = []

  constructor(cluster: ProcessCluster, work: RecordedWork, random: Random) {
    this.#cluster = cluster
    this.#work = work
    this.#random = random
  }

  /** Injects one more fault, and heals it. */
  async strike(): Promise<void> {
    const fault = this.#next()
    const [what, whom] = fault.split(' ')
    if (whom === 'all') return this.#kill(this.#everyone())
    const leader = await this.#leader()
    const followers = this.#everyone().filter((nodeId) => nodeId !== leader)
    const follower = followers[this.#random(followers.length)] ?? leader
    const pauseMs = PAUSES_MS[this.#random(PAUSES_MS.length)] ?? 0
    const victim = whom === 'leader' ? leader : follower
    if (what === 'kill') await this.#kill([victim])
    else await this.#pause(victim, pauseMs)
  }

  #everyone(): string[] {
    return this.#cluster.plan.map(({ nodeId }) => nodeId)
  }

  /** Each kind occurs once before any occurs again. */
  #next(): Fault {
    if (this.#bag.length === 0) this.#bag = [...FAULTS]
    const [fault = 'kill leader'] = this.#bag.splice(this.#random(this.#bag.length), 1)
    this.done.push(fault)
    return fault
  }

  async #leader(): Promise<string> {
    let leader: string | undefined
    await until('there is a leader', async () => (leader = await this.#cluster.leader()) !== undefined)
    return leader ?? ''
  }

  async #kill(victims: readonly string[]): Promise<void> {
    await Promise.all(victims.map((nodeId) => this.#cluster.signal(nodeId, 'SIGKILL')))
    const survivors = this.#everyone().filter((nodeId) => !victims.includes(nodeId))
    await this.#work.moreAnswered(ANSWERS_BETWEEN, survivors)
    for (const nodeId of victims) this.#cluster.startNode(nodeId)
    await this.#healed()
  }

  async #pause(victim: string, pauseMs: number): Promise<void> {
    this.done.push(`${this.done.pop() ?? ''} ${pauseMs} ms`)
    this.#cluster.pause(victim)
    await wait(pauseMs)
    this.#cluster.resume(victim)
    await this.#healed()
  }

  async #healed(): Promise<void> {
    await this.#cluster.allReady()
    await this.#work.moreAnswered(ANSWERS_BETWEEN, this.#everyone())
  }
}
