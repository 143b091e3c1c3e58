/**
 * Moves the copies of a leaving member to their new places, and finds out when it holds none.
 *
 * Owns: the walk over all chunks and its position in this process. Knows nothing of: steps, votes, how a copy is made.
 * Rules: only a whole walk that found nothing counts, and each new leader starts a new walk; at most OPEN_MAX copies plus those of one
 * page are open.
 */
import type { Cluster, MembershipPort } from '../../cluster/index.ts'
import { taskKey } from '../state-machine/chunks/chunk-rows.ts'
import { ITEMS_PER_COMMAND_MAX } from '../state-machine/base/batch-bound.ts'
import type { ChunkRecord } from '../state-machine/chunks/records.ts'
import type { Evacuation } from '../state-machine/members/commands.ts'
import type { MemberRecord } from '../state-machine/members/records.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'
import { memberIn, membersOf } from '../state-machine/members/members.ts'
import type { RowReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import { chunkRanges } from '../state-machine/chunks/keys.ts'

export interface EvacuatingParts {
  readonly cluster: Pick<Cluster, 'placement'>
  readonly state: RowReader
  readonly propose: Propose
  readonly membership: Pick<MembershipPort, 'local'>
}

/** A member that has not answered the leader for this long gets no copy that another one can take: it may never come back. */
const SILENT_MS = 3_000
/** After this time its open copies are given to another member. */
const AWAY_MS = 30_000

const OPEN_MAX = 512
const PAGE_ROWS = ITEMS_PER_COMMAND_MAX

interface Choice {
  readonly wanted: readonly string[]
  readonly others: readonly string[]
  readonly leavingNode: string
}

interface Walk {
  readonly operationId: string
  readonly step: string
  after: string
  /** Chunks that name the member, or are still owed to another member on its behalf. */
  found: number
  /** Chunks among them without a copy on a readable member. */
  last: number
}

export interface EvacuationRound {
  /** True: a whole walk has found nothing. */
  readonly isClean: boolean
  readonly isMore: boolean
  /** For a lost member, at the end of a walk that found nothing else: chunks without a copy on another readable member. */
  readonly unmovable: number
}

export class Evacuating {
  readonly #parts: EvacuatingParts
  readonly #walks = new Map<string, Walk>()

  constructor(parts: EvacuatingParts) {
    this.#parts = parts
  }

  forget(operationId: string): void {
    this.#walks.delete(operationId)
  }

  /** One page. Throws Condition. */
  async round({ operationId, cursor, node, progress }: LongOperation): Promise<EvacuationRound> {
    const waiting = { isClean: false, isMore: false, unmovable: 0 }
    if (progress.tasksOpen > OPEN_MAX) return waiting
    const walk = this.#walkOf(operationId, cursor)
    const leavingNode = node ?? ''
    const isLost = memberIn(membersOf(this.#parts.state), leavingNode)?.phase === 'lost'
    const { items: chunks, next } = await this.#parts.state.page(chunkRanges.chunks(), {
      after: walk.after,
      limit: PAGE_ROWS,
    })
    const about = chunks.filter((chunk) => this.#isConcerned(chunk, leavingNode))
    const only = about.filter((chunk) => chunk.owed.length === 0 && this.#isUnreadable(chunk))
    walk.found += about.length
    walk.last += isLost ? only.length : 0
    await this.#giveUp(operationId, leavingNode, chunks)
    const items = about.flatMap((chunk) => this.#evacuation(chunk, leavingNode, isLost))
    if (items.length > 0) await this.#parts.propose({ type: 'evacuateCopies', operation: operationId, items })
    if (next !== null) {
      walk.after = next
      return { ...waiting, isMore: true }
    }
    this.#walks.delete(operationId)
    return {
      isClean: walk.found === 0,
      isMore: false,
      unmovable: walk.last > 0 && walk.last === walk.found ? walk.last : 0,
    }
  }

  #walkOf(operationId: string, step: string): Walk {
    const known = this.#walks.get(operationId)
    if (known?.step === step) return known
    const walk: Walk = { operationId, step, after: '', found: 0, last: 0 }
    this.#walks.set(operationId, walk)
    return walk
  }

  /** Every listed holder is lost. */
  #isUnreadable({ replicas }: ChunkRecord): boolean {
    const { members, departed } = membersOf(this.#parts.state)
    const isGone = (holder: string): boolean =>
      members.find(({ nodeId }) => nodeId === holder)?.phase === 'lost' ||
      departed.some(({ nodeId }) => nodeId === holder)
    return replicas.every(isGone)
  }

  /** A copy that will never be made, or that an unreachable member owes: the operation would wait for it forever. */
  async #giveUp(operation: string, leavingNode: string, chunks: readonly ChunkRecord[]): Promise<void> {
    const { state, propose } = this.#parts
    const away = this.#silent(AWAY_MS)
    const tasks = chunks
      .filter(({ owed }) => owed.length > 0)
      .flatMap((chunk) => {
        const { tenantId, id: chunkId, birth } = chunk
        const isHopeless = this.#isUnreadable(chunk)
        const targets = chunk.owed.filter(
          (target) =>
            (isHopeless || (away.has(target) && this.#spares(chunk, leavingNode).length > 0)) &&
            state.get(taskKey(chunk, target))?.operation === operation,
        )
        return targets.map((target) => ({ tenantId, chunkId, birth, target }))
      })
    if (tasks.length === 0) return
    await propose({ type: 'endTasks', operation, tasks: tasks.slice(0, ITEMS_PER_COMMAND_MAX) })
  }

  #isConcerned({ replicas, owed }: ChunkRecord, leavingNode: string): boolean {
    return replicas.includes(leavingNode) || owed.includes(leavingNode)
  }

  /** Grants one copy where fewer than the wanted number exist without the member; nothing while one is being made. */
  #evacuation(chunk: ChunkRecord, leavingNode: string, isLost: boolean): readonly Evacuation[] {
    const { tenantId, id: chunkId, birth, replicas, owed } = chunk
    const others = [...replicas, ...owed].filter((holder) => holder !== leavingNode)
    const placed = this.#parts.cluster.placement(chunkId as string)
    const wanted = placed.filter((holder) => holder !== leavingNode)
    const copiesKept = Math.max(1, Math.min(replicas.length, this.#takers(leavingNode).length, placed.length))
    const isEnough = others.length >= Math.max(copiesKept, wanted.length)
    const isHopeless = isEnough || this.#isUnreadable(chunk)
    const target = isHopeless ? null : this.#taker(chunk, { wanted, others, leavingNode })
    const listed = replicas.filter((holder) => holder !== leavingNode).length
    const goes = replicas.includes(leavingNode) && listed >= (isLost ? 1 : copiesKept)
    if (target === null && !goes && !owed.includes(leavingNode)) return []
    return [{ tenantId, chunkId, birth, target, copiesKept }]
  }

  /** The member that placement names; while it is silent, another member that answers, if possible in a zone that holds none. */
  #taker(chunk: ChunkRecord, { wanted, others, leavingNode }: Choice): string | null {
    const missing = wanted.filter((holder) => !others.includes(holder))
    const silent = this.#silent(SILENT_MS)
    const best = missing.find((holder) => !silent.has(holder))
    if (best !== undefined || missing.length === 0) return best ?? null
    const takers = this.#takers(leavingNode)
    const held = takers.filter(({ nodeId }) => others.includes(nodeId)).map(({ zone }) => zone)
    const spare = this.#spares(chunk, leavingNode)
    const apart = spare.filter(({ zone }) => !held.includes(zone))
    const choice = apart.length > 0 ? apart : spare
    // Ids of chunks are hashes, so the copies spread over all members that may take them.
    const place = Number.parseInt(chunk.id.slice(-6), 16) % choice.length
    return choice[Number.isNaN(place) ? 0 : place]?.nodeId ?? missing[0] ?? null
  }

  /** Members that answer and neither hold the chunk nor owe a copy of it. */
  #spares({ replicas, owed }: ChunkRecord, leavingNode: string): readonly MemberRecord[] {
    const silent = this.#silent(SILENT_MS)
    return this.#takers(leavingNode).filter(
      ({ nodeId }) => !(replicas.includes(nodeId) || owed.includes(nodeId) || silent.has(nodeId)),
    )
  }

  #silent(ms: number): ReadonlySet<string> {
    const { peers } = this.#parts.membership.local()
    return new Set(peers.filter(({ silentMs }) => silentMs >= ms).map(({ nodeId }) => nodeId))
  }

  #takers(leavingNode: string): readonly MemberRecord[] {
    const { members } = membersOf(this.#parts.state)
    return members.filter(
      ({ phase, weight, nodeId }) => phase === 'active' && weight > 0 && nodeId !== leavingNode,
    )
  }
}
