/**
 * Counts everything anew from the rows that nobody counts, and compares it with what apply has counted.
 *
 * Owns: what follows from what. Knows nothing of: where rows come from, what is done about a difference.
 * Rules: it corrects nothing; memory grows with buckets and tenants, not with objects and chunks: what manifests refer to
 * and what chunks say of it are compared as sums of hashes, in slices, so that a difference can be looked for in one.
 */
import { figuresOf, taskKey } from './chunk-rows.ts'
import { keys } from './keys.ts'
import type {
  BucketRecord,
  ChunkRecord,
  ManifestPageRecord,
  ObjectRecord,
  RepairRecord,
  UsageRecord,
} from './records.ts'
import { standing } from './standing.ts'
import { NO_USAGE } from './usage.ts'
import type { Row, View } from './view.ts'

/** 64 bits of a good hash: two different texts never have the same one in practice. */
export type TextHash = (text: string) => bigint

const SLICES = 256n
const DIFFERENCES_SHOWN = 16

interface BucketCount {
  readonly tenantId: string
  readonly row: BucketRecord
  objects: number
  bytes: number
}

export class Recount {
  readonly #hash: TextHash
  /** The same cut that the rows come from. */
  readonly #view: View
  readonly #buckets = new Map<string, BucketCount>()
  readonly #usage = new Map<string, Record<keyof UsageRecord, number>>()
  readonly #stored = new Map<string, UsageRecord>()
  /** References as manifests have them less those that chunks count, times the hash of the chunk; by slice. */
  readonly #references = new Map<bigint, bigint>()
  /** Hashes of the rows that follow from chunks less those of the rows that are there. */
  #derived = 0n
  #repairs = 0
  readonly #found: string[] = []
  #foundCount = 0

  constructor(hash: TextHash, view: View) {
    this.#hash = hash
    this.#view = view
  }

  /** Every row, in the order of keys: buckets come before what is in them. */
  take(key: string, row: Row): void {
    const [kind = '', owner = '', inner = ''] = key.split('\u0000', 3)
    if (kind === 'in') this.#takeInBucket(owner, inner, row)
    else if (kind === 'chunk') this.#takeChunk(row as ChunkRecord)
    else if (kind === 'bucket') this.#takeBucket(row as BucketRecord)
    else if (kind === 'usage') this.#stored.set(owner, row as UsageRecord)
    else if (kind === 'drop') this.#takeDrop(owner, key)
    else if (kind === 'making' || kind === 'condemned' || kind === 'repair') this.#derived -= this.#hash(key)
    if (kind === 'repair') this.#repairs++
  }

  /** What is wrong, in sentences; at most DIFFERENCES_SHOWN of them, the last one says how many more. */
  finish(): readonly string[] {
    for (const [slice, sum] of this.#references)
      if (sum !== 0n) this.#differ(`references of chunks in slice ${slice} differ from their manifests`)
    if (this.#derived !== 0n) this.#differ('making, condemned or repair rows do not follow from the chunks')
    const counted = this.#view.get(keys.repairTotal())?.count ?? 0
    if (counted !== this.#repairs) this.#differ(`${this.#repairs} repair rows are counted as ${counted}`)
    for (const { row, objects, bytes } of this.#buckets.values())
      if (row.objectCount !== objects || row.logicalBytes !== bytes)
        this.#differ(
          `bucket "${row.id}" counts ${row.objectCount} objects and has ${objects}, or their bytes differ`,
        )
    for (const tenantId of new Set([...this.#usage.keys(), ...this.#stored.keys()]))
      this.#compareUsage(tenantId)
    const more = this.#foundCount - this.#found.length
    return more === 0 ? this.#found : [...this.#found, `and ${more} more`]
  }

  #takeBucket(row: BucketRecord): void {
    this.#buckets.set(row.id, { tenantId: row.tenantId, row, objects: 0, bytes: 0 })
  }

  #takeInBucket(bucketId: string, kind: string, row: Row): void {
    const bucket = this.#buckets.get(bucketId)
    if (bucket === undefined) return this.#differ(`a row of kind "${kind}" is in no bucket`)
    const { tenantId } = bucket
    if (kind === 'inlineBody')
      this.#add(tenantId, { inlineBytes: (row as { sealed: Uint8Array }).sealed.length })
    if (kind === 'manifestPage')
      for (const { id } of (row as ManifestPageRecord).links) this.#refer(tenantId, id, 1n)
    if (kind !== 'object') return
    const { size } = row as ObjectRecord
    bucket.objects++
    bucket.bytes += size
    this.#add(tenantId, { objects: 1, logicalBytes: size })
  }

  #takeChunk(chunk: ChunkRecord): void {
    const { id, tenantId, birth, references, condemnedAt, replicas, owed } = chunk
    this.#refer(tenantId, id, -BigInt(references))
    this.#add(tenantId, figuresOf(chunk))
    this.#derived += this.#hash(keys.making(birth, id))
    if (condemnedAt !== null) this.#derived += this.#hash(keys.condemned(condemnedAt, tenantId, id))
    for (const target of owed) {
      this.#derived += this.#hash(taskKey(chunk, target))
      const task: RepairRecord | undefined = this.#view.get(taskKey(chunk, target))
      if (task?.birth !== birth || task.target !== target)
        this.#differ(`chunk "${id}" owes a copy without a task`)
    }
    if ((references === 0) !== (condemnedAt !== null)) this.#differ(`chunk "${id}" is condemned wrongly`)
    const holders = [...replicas, ...owed]
    if (replicas.length === 0 || new Set(holders).size !== holders.length)
      this.#differ(`chunk "${id}" lists no copy, or one twice`)
  }

  #takeDrop(node: string, key: string): void {
    const [, , birth = '', id = ''] = key.split('\u0000')
    const said = standing(this.#view, { id, birth }, node)
    if (said !== 'dropping') this.#differ(`a copy of "${id}" that is ${said} is to be removed from "${node}"`)
  }

  #refer(tenantId: string, id: string, count: bigint): void {
    const hash = this.#hash(`${tenantId}/${id}`)
    const slice = hash % SLICES
    this.#references.set(slice, (this.#references.get(slice) ?? 0n) + count * hash)
  }

  #add(tenantId: string, change: Partial<UsageRecord>): void {
    const row = this.#usage.get(tenantId) ?? { ...NO_USAGE }
    for (const figure of Object.keys(change) as (keyof UsageRecord)[]) row[figure] += change[figure] ?? 0
    this.#usage.set(tenantId, row)
  }

  #compareUsage(tenantId: string): void {
    const [counted, stored] = [this.#usage.get(tenantId) ?? NO_USAGE, this.#stored.get(tenantId) ?? NO_USAGE]
    for (const figure of Object.keys(NO_USAGE) as (keyof UsageRecord)[])
      if (counted[figure] !== stored[figure])
        this.#differ(
          `usage of tenant "${tenantId}": ${figure} is ${counted[figure]} and counted as ${stored[figure]}`,
        )
  }

  #differ(what: string): void {
    this.#foundCount++
    if (this.#found.length < DIFFERENCES_SHOWN) this.#found.push(what)
  }
}
