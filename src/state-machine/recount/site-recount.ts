/**
 * The part of a recount for the replication to other sites: compares counts and index rows with the rows of changes.
 *
 * Owns: what follows from buckets and changes. Rule: memory grows with buckets, not with changes.
 */
import type { Row } from '../base/view.ts'
import type { TextHash } from '../base/text-hash.ts'
import type { BucketRecord } from '../buckets/records.ts'
import { siteKeys } from '../sites/keys.ts'
import type { SiteChangeRecord, SiteStateRecord } from '../sites/records.ts'
import { isBusySite } from '../sites/site-state.ts'

interface Counted {
  pending: number
  pendingBytes: number
  failed: number
}

export class SiteRecount {
  readonly #hash: TextHash
  readonly #states = new Map<string, SiteStateRecord>()
  readonly #rows = new Map<string, Counted>()
  /** Hashes of the rows that follow from buckets and states minus those of the rows that exist. */
  #followed = 0n

  constructor(hash: TextHash) {
    this.#hash = hash
  }

  takeBucket({ id, hasReplication }: BucketRecord): void {
    if (hasReplication === true) this.#followed += this.#hash(siteKeys.site(id))
  }

  /** Takes any row; rows of other kinds are ignored. */
  take(kind: string, key: string, row: Row): void {
    const [, bucketId = ''] = key.split('\u0000', 2)
    switch (kind) {
      case 'site':
        // Its state follows from it; what is left of a removed one has no row here.
        this.#followed += this.#hash(siteKeys.siteState(bucketId)) - this.#hash(key)
        return
      case 'siteState':
        return this.#takeState(bucketId, row as SiteStateRecord)
      case 'busySite':
        this.#followed -= this.#hash(key)
        return
      case 'siteChange': {
        const counted = this.#countedOf(bucketId)
        counted.pending++
        counted.pendingBytes += (row as SiteChangeRecord).bytes
        return
      }
      case 'failedSiteChange':
        this.#countedOf(bucketId).failed++
    }
  }

  /** Returns the differences as sentences. */
  finish(): readonly string[] {
    const found: string[] = []
    for (const [bucketId, state] of this.#states) {
      const rows = this.#countedOf(bucketId)
      for (const figure of ['pending', 'pendingBytes', 'failed'] as const)
        if (rows[figure] !== state[figure])
          found.push(
            `replication of bucket "${bucketId}": ${figure} is ${rows[figure]} and counted as ${state[figure]}`,
          )
    }
    if ([...this.#rows.keys()].some((id) => !this.#states.has(id)))
      found.push('a change waits for a site that is not there')
    if (this.#followed !== 0n) found.push('rows of replication do not follow from buckets and changes')
    return found
  }

  #takeState(bucketId: string, state: SiteStateRecord): void {
    this.#states.set(bucketId, state)
    if (!state.isRemoved) this.#followed -= this.#hash(siteKeys.siteState(bucketId))
    if (isBusySite(state)) this.#followed += this.#hash(siteKeys.busySite(bucketId))
  }

  #countedOf(bucketId: string): Counted {
    const counted = this.#rows.get(bucketId) ?? { pending: 0, pendingBytes: 0, failed: 0 }
    this.#rows.set(bucketId, counted)
    return counted
  }
}
