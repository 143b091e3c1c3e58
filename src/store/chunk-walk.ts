/**
 * Goes through the chunks of a tenant or a bucket, a bounded number at a time, from a position that is plain text.
 *
 * Layout of a position: empty at the beginning, `end` behind the last chunk, else `<link>:<name>`. For a tenant the name is the
 * last chunk and the link 0; for a bucket it is an object key, and the link the one to go on with in its manifest (0: with the next object).
 * Rule: whatever is there from the beginning of the walk to its end is seen at least once.
 */
import type { BucketRecord, ChunkRecord, ObjectRecord, TenantId } from '../state-machine/records.ts'
import { ALL_PLANNED } from '../state-machine/operations.ts'
import type { StateReader } from './state-reader.ts'

export interface WalkedChunk {
  readonly chunk: ChunkRecord
  /** The position behind it. */
  readonly position: string
}

type State = Pick<StateReader, 'chunk' | 'chunksOf' | 'object' | 'objects' | 'manifest'>

const OBJECTS_PER_PAGE = 64

interface Place {
  readonly link: number
  readonly name: string
}

/** Fewer than `limit` mean the end. */
export async function chunksOfTenant(
  state: State,
  tenant: TenantId,
  position: string,
  limit: number,
): Promise<readonly WalkedChunk[]> {
  const { items } = await state.chunksOf(tenant, placeOf(position).name, limit)
  return items.map((chunk) => ({ chunk, position: positionOf({ link: 0, name: chunk.id }) }))
}

export interface BucketStep {
  readonly chunks: readonly WalkedChunk[]
  /** Where to go on when all of them are done; `end` when there is nothing left. */
  readonly next: string
}

/** A chunk that lies in several objects is seen several times. */
export async function chunksOfBucket(
  state: State,
  bucket: BucketRecord,
  position: string,
  limit: number,
): Promise<BucketStep> {
  const place = placeOf(position)
  const begun = place.link > 0 ? state.object(bucket, place.name) : undefined
  const query = { prefix: '', delimiter: '', limit: OBJECTS_PER_PAGE, after: place.name }
  const page = await state.objects(bucket, query)
  const chunks: WalkedChunk[] = []
  for (const object of begun === undefined ? page.objects : [begun, ...page.objects]) {
    const first = object === begun ? place.link : 0
    const links = state.manifest(bucket.id, object.versionId, first, limit - chunks.length)
    links.forEach(({ id }, n) => {
      const chunk = state.chunk(bucket.tenantId, id)
      const behind = positionOf({ link: first + n + 1, name: object.key })
      if (chunk !== undefined) chunks.push({ chunk, position: behind })
    })
    const isWhole = first + links.length >= linkCount(object)
    if (!isWhole && links.length > 0)
      return { chunks, next: positionOf({ link: first + links.length, name: object.key }) }
    if (chunks.length >= limit) return { chunks, next: positionOf({ link: 0, name: object.key }) }
  }
  const last = page.objects.at(-1)
  const isEnd = page.next === null || last === undefined
  return { chunks, next: isEnd ? ALL_PLANNED : positionOf({ link: 0, name: last.key }) }
}

function linkCount({ body }: ObjectRecord): number {
  return body.kind === 'chunks' ? body.count : 0
}

function positionOf({ link, name }: Place): string {
  return `${link}:${name}`
}

function placeOf(position: string): Place {
  const colon = position.indexOf(':')
  if (colon === -1) return { link: 0, name: '' }
  return { link: Number(position.slice(0, colon)), name: position.slice(colon + 1) }
}
