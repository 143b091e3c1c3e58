/**
 * Adds up chunks into where their copies are: by node and by zone, with what is owed and what is at risk. Pure.
 *
 * Rules: bytes are those of sealed chunks, as they lie on disks; a chunk that is given twice counts once, as long as no other page
 * was given in between. A node that is no member any more has no zone and no weight, and still holds what rows list.
 */
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import type { MemberRecord } from '../../state-machine/members/records.ts'

export interface Held {
  readonly copies: number
  readonly bytes: number
}

export interface NodePlacement {
  readonly nodeId: string
  /** Null: it is no member. */
  readonly zone: string | null
  /** Relative share of new copies; 0 for a node that takes none. */
  readonly weight: number
  readonly held: Held
  /** Copies that it is to make. */
  readonly owed: Held
}

export interface PlacementSums {
  readonly chunks: number
  /** Of each chunk once. */
  readonly bytes: number
  readonly held: Held
  readonly owed: Held
  /** Chunks with one listed copy, and chunks whose copies are all in one zone although members are in several. */
  readonly singleCopies: number
  readonly singleZones: number
  readonly nodes: readonly NodePlacement[]
}

interface Sum {
  copies: number
  bytes: number
}

interface NodeSum {
  readonly held: Sum
  readonly owed: Sum
}

export class PlacementTally {
  readonly #members: ReadonlyMap<string, MemberRecord>
  readonly #zones: number
  readonly #nodes = new Map<string, NodeSum>()
  #seen = new Set<string>()
  #chunks = 0
  #bytes = 0
  #singleCopies = 0
  #singleZones = 0

  constructor(members: readonly MemberRecord[]) {
    this.#members = new Map(members.map((member) => [member.nodeId, member]))
    this.#zones = new Set(members.map(({ zone }) => zone)).size
    for (const nodeId of this.#members.keys()) this.#sumOf(nodeId)
  }

  /** `chunks`: one page of a walk. */
  add(chunks: readonly ChunkRecord[]): void {
    const seen = new Set<string>()
    for (const chunk of chunks) {
      const name = `${chunk.tenantId}/${chunk.id}`
      if (!this.#seen.has(name) && !seen.has(name)) this.#count(chunk)
      seen.add(name)
    }
    this.#seen = seen
  }

  sums(): PlacementSums {
    const nodes = [...this.#nodes].map(([nodeId, { held, owed }]) => {
      const member = this.#members.get(nodeId)
      const weight = member?.phase === 'active' ? member.weight : 0
      return { nodeId, zone: member?.zone ?? null, weight, held: { ...held }, owed: { ...owed } }
    })
    return {
      chunks: this.#chunks,
      bytes: this.#bytes,
      held: total(nodes.map(({ held }) => held)),
      owed: total(nodes.map(({ owed }) => owed)),
      singleCopies: this.#singleCopies,
      singleZones: this.#singleZones,
      nodes: nodes.sort((one, other) => (one.nodeId < other.nodeId ? -1 : 1)),
    }
  }

  #count({ replicas, owed, sealedSize }: ChunkRecord): void {
    this.#chunks++
    this.#bytes += sealedSize
    if (replicas.length === 1) this.#singleCopies++
    const zones = new Set(replicas.map((node) => this.#members.get(node)?.zone ?? node))
    if (zones.size === 1 && this.#zones > 1) this.#singleZones++
    for (const node of replicas) addTo(this.#sumOf(node).held, sealedSize)
    for (const node of owed) addTo(this.#sumOf(node).owed, sealedSize)
  }

  #sumOf(nodeId: string): NodeSum {
    const known = this.#nodes.get(nodeId)
    if (known !== undefined) return known
    const sum = { held: { copies: 0, bytes: 0 }, owed: { copies: 0, bytes: 0 } }
    this.#nodes.set(nodeId, sum)
    return sum
  }
}

function addTo(sum: Sum, bytes: number): void {
  sum.copies++
  sum.bytes += bytes
}

function total(all: readonly Held[]): Held {
  const sum = { copies: 0, bytes: 0 }
  for (const { copies, bytes } of all) {
    sum.copies += copies
    sum.bytes += bytes
  }
  return sum
}
