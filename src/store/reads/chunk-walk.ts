/**
 * Goes through the chunks of a tenant or a bucket, a bounded number at a time, from a position that is plain text.
 *
 * Layout of a position: empty at the beginning, `end` behind the last chunk, else `<link>:<name>`. For a tenant the name is the
 * last chunk and the link 0; for a bucket it is the id of a body, and the link is the one in its manifest to continue with.
 * Rule: a chunk that exists from the beginning of the walk to its end is seen at least once. A bucket is walked by its
 * manifests, which never move: those of versions, of their parts, and of parts whose upload is under way.
 */
import { chunkKeys, chunkRanges } from '../../state-machine/chunks/keys.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { LINKS_PER_PAGE } from '../../state-machine/bodies/manifests.ts'
import { ALL_PLANNED } from '../../state-machine/long-operations/operations.ts'
import { manifestPages } from './manifest-reads.ts'
import type { RowReader } from './state-reader.ts'

export interface WalkedChunk {
  readonly chunk: ChunkRecord
  /** The position behind it. */
  readonly position: string
}

/** Each has LINKS_PER_PAGE links at most. */
const MANIFEST_PAGES_READ = 16

interface Place {
  readonly link: number
  readonly name: string
}

/** Fewer than `limit` chunks mean the end. */
export async function chunksOfTenant(
  state: RowReader,
  tenant: TenantId,
  position: string,
  limit: number,
): Promise<readonly WalkedChunk[]> {
  const { items } = await state.page(chunkRanges.chunksOf(tenant), { after: placeOf(position).name, limit })
  return items.map((chunk) => ({ chunk, position: positionOf({ link: 0, name: chunk.id }) }))
}

export interface BucketStep {
  readonly chunks: readonly WalkedChunk[]
  /** Where to continue when all of them are done; `end` when there is nothing left. */
  readonly next: string
}

/** A chunk that lies in several bodies is seen several times. */
export async function chunksOfBucket(
  state: RowReader,
  bucket: BucketRecord,
  position: string,
  limit: number,
): Promise<BucketStep> {
  const { link, name } = placeOf(position)
  const from = { version: name, page: Math.floor(link / LINKS_PER_PAGE) }
  const pages = await manifestPages(state, bucket.id, from, MANIFEST_PAGES_READ)
  const chunks: WalkedChunk[] = []
  let next = ALL_PLANNED
  for (const { version, page, links } of pages) {
    const isStarted = version === name && page === from.page
    const first = isStarted ? link % LINKS_PER_PAGE : 0
    for (const [n, { id }] of links.entries()) {
      if (n < first) continue
      if (chunks.length === limit) return { chunks, next }
      const chunk = state.get(chunkKeys.chunk(bucket.tenantId, id))
      next = positionOf({ link: page * LINKS_PER_PAGE + n + 1, name: version })
      if (chunk !== undefined) chunks.push({ chunk, position: next })
    }
    // The next page of this body, or the first of the next one.
    next = positionOf({ link: (page + 1) * LINKS_PER_PAGE, name: version })
  }
  return { chunks, next: pages.length < MANIFEST_PAGES_READ ? ALL_PLANNED : next }
}

function positionOf({ link, name }: Place): string {
  return `${link}:${name}`
}

function placeOf(position: string): Place {
  const colon = position.indexOf(':')
  if (colon === -1) return { link: 0, name: '' }
  return { link: Number(position.slice(0, colon)), name: position.slice(colon + 1) }
}
