/**
 * A group of members in which the driver of an operation is interrupted at any of its effects, with the nodes that die with it.
 *
 * Owns: one committed configuration, what a leader has in its log alone, who lives, and proposals that arrive late. Knows nothing of:
 * what is allowed in the end. Rules: a configuration or a command is committed only while a majority lives; what the log of a leader that
 * went alone held is gone; a new leader has no answer from any node yet.
 */
import assert from 'node:assert/strict'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import {
  Condition,
  MembershipRefusedError,
  type MembershipPort,
  type MemberStatus,
} from '../../cluster/index.ts'
import type { Command, Proposal, Reply } from '../../src/state-machine/commands.ts'
import { membersOf } from '../../src/state-machine/members/members.ts'
import { unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import type { Propose } from '../../src/commands/propose.ts'
import { Evacuating } from '../../src/workers/evacuating.ts'
import { MembershipWorker } from '../../src/workers/membership.ts'
import { SILENT } from '../helpers/loggers.ts'
import { singleNodeMembership, singleNodeStatus } from '../helpers/membership-samples.ts'
import { foundedWorld } from '../state-machine/member-commands.ts'
import {
  addCopy,
  fresh,
  type MapWorld,
  putChunks,
  rowsOf,
  worldWithBucket,
} from '../state-machine/map-world.ts'
import { mapReader } from '../helpers/map-reader.ts'

export interface Group {
  readonly voters: readonly string[]
  readonly learners: readonly string[]
}

/**
 * What becomes of the leader and its effect: it dies before or after it, the effect takes long and is kept or lost in the end, or the leader
 * is cut off and what it asked for comes when others are so many effects further.
 */
export const INTERRUPTIONS = [
  'none',
  'before',
  'after',
  'slow, kept',
  'slow, lost',
  'late 0',
  'late 1',
  'late 2',
] as const
export type Interruption = (typeof INTERRUPTIONS)[number]
export const FATES = ['lives', 'comes back', 'is gone'] as const
export type Fate = (typeof FATES)[number]

export interface Cell {
  /** The number of the effect, from 1 on; 0: none. */
  readonly at: number
  readonly leader: Interruption
  readonly leaderFate: Fate
  readonly target: Fate
  /** An operator gives it up in this moment. */
  readonly isCancelled: boolean
}

const AWAY_ROUNDS = 3
const READY_MS = 1_000

/** The driver of a node that is dead or cut off: its effect never ends well. */
class GoneError extends Condition {
  constructor() {
    super('commit_unknown', 'the leader is gone')
  }
}

export class InterruptedWorld {
  readonly rows: MapWorld
  committed: Group
  leader = 'n1'
  readonly cell: Cell
  readonly target: string
  effects = 0
  readonly #dead = new Map<string, number>()
  /** In the log of the leader alone. */
  #pending: Group | null = null
  #pendingSince = 0
  /** Is being asked for. */
  #aim: Group | null = null
  #isCutOff = false
  #started = Infinity
  #late: { readonly command: Proposal; after: number }[] = []
  #configurationIndex = 1
  #term = 1
  #round = 0
  #elected = 0
  #worker: MembershipWorker

  constructor(cell: Cell, target: string, voters: readonly string[] = ['n1', 'n2', 'n3']) {
    this.cell = cell
    this.target = target
    this.committed = { voters, learners: [] }
    this.rows = foundedWorld(voters, worldWithBucket())
    this.rows.do(putChunks('a', [fresh('c1'), fresh('c2', { replicas: ['n1', 'n3'] })]))
    this.#worker = this.#driver('n1')
  }

  /** Effects count from here on. */
  begin(): number {
    this.#started = this.effects
    return this.effects
  }

  isAlive(name: string): boolean {
    return (this.#dead.get(name) ?? 0) <= this.#round
  }

  /** Members that never come back and were not called lost yet. */
  get gone(): readonly string[] {
    const { members } = membersOf(this.rows)
    return members
      .filter(({ nodeId, phase }) => phase !== 'lost' && this.#dead.get(nodeId) === Infinity)
      .map(({ nodeId }) => nodeId)
  }

  kill(name: string, fate: Fate = 'is gone'): void {
    if (fate === 'lives') return
    const groups = [this.committed, this.#pending, this.#aim].flatMap((group) => group ?? [])
    const rest = (names: readonly string[]): number =>
      names.filter((voter) => voter !== name && this.isAlive(voter)).length
    // More failures than the group tolerates at this moment are no defect, but then a node has to come back.
    const isBorne = groups.every(({ voters }) => rest(voters) > voters.length / 2)
    this.#dead.set(name, fate === 'is gone' && isBorne ? Infinity : this.#round + AWAY_ROUNDS)
  }

  /** One second. */
  async round(): Promise<void> {
    this.#round++
    if (this.#pending !== null && this.#round > this.#pendingSince + 1) this.#settlePending()
    if (this.#isCutOff || !this.isAlive(this.leader) || !this.committed.voters.includes(this.leader))
      this.#elect()
    if (this.isAlive(this.leader)) {
      for (let more = true, n = 0; more && !this.#isCutOff && this.isAlive(this.leader); n++) {
        assert(n < 50, 'a round ends')
        more = await this.#worker.round().catch((err: unknown) => {
          if (!(err instanceof Condition)) throw err
          return false
        })
      }
    }
    this.#makeCopies()
  }

  operation(id: string): LongOperation | undefined {
    return this.rows.get(longOperationKeys.operation(id))
  }

  cancel(operationId: string): boolean {
    return this.rows.run({ type: 'setOperationStatus', operationId, action: 'cancel', error: null }).ok
  }

  /** A slow effect is in the log of a majority, or no node receives messages of its leader any more. */
  #settlePending(): void {
    if (this.cell.leader === 'slow, kept') this.#commit(this.#pending ?? this.committed)
    else this.#isCutOff = true
    this.#pending = null
  }

  #commit(group: Group): void {
    this.committed = group
    this.#configurationIndex += 2
  }

  /** Somebody else, of those that may lead. What the old one had alone is gone with it. */
  #elect(next?: string): void {
    const { voters } = this.committed
    const living = voters.filter((voter) => this.isAlive(voter))
    if (living.length <= voters.length / 2) return
    this.leader = next ?? living.find((voter) => voter !== this.leader) ?? living[0] ?? this.leader
    this.#pending = null
    this.#isCutOff = false
    this.#term++
    this.#elected = this.#round
    this.#worker = this.#driver(this.leader)
  }

  #driver(nodeId: string): MembershipWorker {
    const term = this.#term
    const isCurrent = (): boolean => term === this.#term && this.isAlive(nodeId)
    const run = (command: Command, origin?: Proposal['origin']): Promise<Reply> =>
      this.#propose(isCurrent, origin === undefined ? command : { ...command, origin })
    const propose = run as Propose
    const state = mapReader(this.rows)
    const membership = this.#port(isCurrent)
    return new MembershipWorker({
      nodeId,
      isJobRunner: isCurrent,
      membership,
      readBarrier: async () => {
        if (!isCurrent() || this.#isCutOff) throw new GoneError()
      },
      state,
      propose,
      evacuating: new Evacuating({
        cluster: { placement: () => this.#placement() },
        state,
        propose,
        membership,
      }),
      now: () => this.#round * 1_000,
      readyMs: READY_MS,
      logger: SILENT,
    })
  }

  #placement(): readonly string[] {
    const active = membersOf(this.rows).members.filter(({ phase }) => phase === 'active')
    return active.map(({ nodeId }) => nodeId).slice(0, 2)
  }

  /** A living node that owes a copy makes it from a living holder. */
  #makeCopies(): void {
    for (const { id, owed, replicas } of rowsOf<ChunkRecord>(this.rows, 'chunk')) {
      if (!replicas.some((holder) => this.isAlive(holder))) continue
      for (const target of owed.filter((name) => this.isAlive(name)))
        this.rows.do(addCopy(this.rows, id as string, target))
    }
  }

  /** Returns what becomes of the effect that is about to happen. */
  #interrupt(): 'happens' | 'unanswered' | 'never' | 'stays here' {
    this.effects++
    for (const late of this.#late) late.after--
    const { at, leader, leaderFate, target, isCancelled } = this.cell
    this.#deliver()
    if (this.effects - this.#started !== at) return 'happens'
    if (isCancelled) for (const { operationId } of unfinishedOperations(this.rows)) this.cancel(operationId)
    if (target !== 'lives') this.kill(this.target, target)
    switch (leader) {
      case 'none':
        return 'happens'
      case 'before':
        this.kill(this.leader, leaderFate)
        return 'never'
      case 'after':
        return 'unanswered'
      default:
        return 'stays here'
    }
  }

  /** Repeats the requests of a node that was cut off, once the others are a few effects further. */
  #deliver(): void {
    const due = this.#late.filter(({ after }) => after < 0)
    this.#late = this.#late.filter(({ after }) => after >= 0)
    for (const { command } of due) this.rows.run(command)
  }

  async #propose(isCurrent: () => boolean, command: Proposal): Promise<Reply> {
    if (!isCurrent()) throw new GoneError()
    // The log of a leader that was cut off at the effect before: requests that it takes now are held until the others continue.
    const what = this.#pending === null ? this.#interrupt() : 'stays here'
    if (what === 'stays here') {
      const [how, after] = this.cell.leader.split(' ')
      this.#isCutOff = how === 'late' || this.cell.leader === 'slow, lost'
      this.#late.push({ command, after: how === 'late' ? Number(after) : 0 })
      throw new GoneError()
    }
    if (what === 'never') throw new GoneError()
    const reply = this.rows.run(command)
    if (what === 'happens') return reply
    this.kill(this.leader, this.cell.leaderFate)
    throw new GoneError()
  }

  #status(): MemberStatus {
    const { voters, learners } = this.#pending ?? this.committed
    const isNew = this.#round === this.#elected
    const peers = [...voters, ...learners].map((nodeId) => {
      const silentMs = this.isAlive(nodeId) || isNew ? 0 : 60_000
      return { nodeId, matchIndex: isNew && this.#term > 1 ? 0 : 1, silentMs, lagEntries: 0, lagBytes: 0 }
    })
    const applied = this.#configurationIndex
    return singleNodeStatus(this.leader, {
      term: this.#term,
      configuration: { voters, learners, outgoing: [] },
      configurationIndex: this.#pending === null ? applied : applied + 1,
      appliedIndex: applied,
      peers,
      checksums: [[1, 'equal']],
    })
  }

  #port(isCurrent: () => boolean): MembershipPort {
    return {
      ...singleNodeMembership(this.leader),
      local: () => this.#status(),
      newcomer: async (nodeId) => {
        this.#interruptRead()
        return this.isAlive(nodeId)
          ? { nodeId, incarnation: `life-of-${nodeId}`, isJoining: true, featureLevel: 1, version: '1.0.0' }
          : 'unreachable'
      },
      ask: async (nodeId) => {
        this.#interruptRead()
        return this.isAlive(nodeId) ? singleNodeStatus(nodeId, { checksums: [[1, 'equal']] }) : null
      },
      change: (target, index) => this.#change(isCurrent, target, index),
      transfer: async () => {
        if (this.#interrupt() === 'never') throw new GoneError()
        const { voters } = this.committed
        const heir = voters.find((voter) => voter !== this.leader && this.isAlive(voter))
        if (heir === undefined) throw new GoneError()
        this.#elect(heir)
      },
    }
  }

  /** Others answer, or the one who asked is gone meanwhile. */
  #interruptRead(): void {
    if (this.#interrupt() === 'happens') return
    this.kill(this.leader, this.cell.leaderFate === 'lives' ? 'comes back' : this.cell.leaderFate)
    throw new GoneError()
  }

  async #change(isCurrent: () => boolean, target: Group, index: number): Promise<void> {
    if (!isCurrent()) throw new GoneError()
    if (index !== this.#configurationIndex)
      throw new MembershipRefusedError('configurationChanged', 'they are not the ones that were seen')
    if (this.#pending !== null) throw new MembershipRefusedError('configurationPending', 'not complete yet')
    const living = target.voters.filter((voter) => this.isAlive(voter)).length
    assert(
      living > target.voters.length / 2,
      `votes move to ${target.voters.join()}, where no majority decides`,
    )
    this.#aim = target
    const what = this.#interrupt()
    this.#aim = null
    if (what === 'never') throw new GoneError()
    if (what === 'stays here') {
      this.#pending = target
      this.#pendingSince = this.#round
      if (this.cell.leader.startsWith('late')) this.#isCutOff = true
      throw new GoneError()
    }
    this.#commit(target)
    if (what === 'happens') return
    this.kill(this.leader, this.cell.leaderFate)
    throw new GoneError()
  }
}
