/**
 * Adds up what would move if members had other weights or zones: copies and bytes, and what each node would get and give. Pure.
 *
 * Rule: what moves is decided by the placement and the moves that a rebalance itself uses, so a plan and a rebalance agree.
 */
import { placeReplicas } from '../../../cluster/index.ts'
import { movesOf } from '../../state-machine/chunks/copy-moves.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'

/** As a new copy sees it: a member that takes none has weight 0. */
export interface PlacedMember {
  readonly nodeId: string
  readonly zone: string
  readonly weight: number
}

export interface NodeMoves {
  readonly nodeId: string
  readonly copiesIn: number
  readonly bytesIn: number
  readonly copiesOut: number
  readonly bytesOut: number
}

export interface MoveSums {
  readonly chunks: number
  /** Chunks with at least one copy that moves. */
  readonly chunksToMove: number
  readonly copiesToMake: number
  readonly bytesToMove: number
  /** Chunks whose copies would all be in one zone. */
  readonly singleZones: number
  readonly nodes: readonly NodeMoves[]
}

type Sum = { -readonly [K in keyof NodeMoves]: NodeMoves[K] }

export class MoveTally {
  readonly #members: readonly PlacedMember[]
  readonly #copies: number
  readonly #zoneOf: ReadonlyMap<string, string>
  readonly #nodes = new Map<string, Sum>()
  #chunks = 0
  #chunksToMove = 0
  #copiesToMake = 0
  #bytesToMove = 0
  #singleZones = 0

  /** `copies`: of each chunk. */
  constructor(members: readonly PlacedMember[], copies: number) {
    this.#members = members
    this.#copies = copies
    this.#zoneOf = new Map(members.map(({ nodeId, zone }) => [nodeId, zone]))
    for (const { nodeId } of members) this.#sumOf(nodeId)
  }

  add(chunks: readonly ChunkRecord[]): void {
    for (const chunk of chunks) this.#add(chunk)
  }

  sums(): MoveSums {
    return {
      chunks: this.#chunks,
      chunksToMove: this.#chunksToMove,
      copiesToMake: this.#copiesToMake,
      bytesToMove: this.#bytesToMove,
      singleZones: this.#singleZones,
      nodes: [...this.#nodes.values()],
    }
  }

  #add(chunk: ChunkRecord): void {
    this.#chunks++
    const wanted = placeReplicas({ blobId: chunk.id, members: this.#members, copies: this.#copies })
    const zones = new Set(wanted.map((node) => this.#zoneOf.get(node)))
    if (wanted.length > 1 && zones.size === 1) this.#singleZones++
    const moves = movesOf(chunk, wanted)
    if (moves.length > 0) this.#chunksToMove++
    for (const { target, replaces } of moves) {
      this.#copiesToMake++
      this.#bytesToMove += chunk.sealedSize
      const into = this.#sumOf(target)
      into.copiesIn++
      into.bytesIn += chunk.sealedSize
      if (replaces === null) continue
      const from = this.#sumOf(replaces)
      from.copiesOut++
      from.bytesOut += chunk.sealedSize
    }
  }

  #sumOf(nodeId: string): Sum {
    const known = this.#nodes.get(nodeId)
    if (known !== undefined) return known
    const sum: Sum = { nodeId, copiesIn: 0, bytesIn: 0, copiesOut: 0, bytesOut: 0 }
    this.#nodes.set(nodeId, sum)
    return sum
  }
}
