/**
 * Walks through the small bodies that lie in the rows of a tenant, a page at a time: bucket by bucket, and in each by the rows that name a body.
 *
 * Owns: the order of buckets and kinds. Knows nothing of: what becomes of the result. Rules: a page is bounded; a body that some row names from the
 * beginning of the walk to its end is seen. Bodies of removed versions are not: nothing names them any more.
 */
import type { BucketId, ChunkId, TenantId, VersionId } from '../../state-machine/base/record-ids.ts'
import type { KeyRange } from '../../state-machine/base/row-key.ts'
import { bodyKeys, bodyRanges } from '../../state-machine/bodies/keys.ts'
import type {
  BodyRecord,
  InlineBodyRecord,
  PartPageRecord,
  UploadPageRecord,
} from '../../state-machine/bodies/records.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'
import { versionRanges } from '../../state-machine/versions/keys.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import type { Page, RowReader } from './state-reader.ts'

export interface WalkedBody {
  readonly bucket: string
  readonly bucketId: BucketId
  readonly bodyId: VersionId
  readonly chunkId: ChunkId
  /** Of the plain bytes. */
  readonly size: number
  readonly row: InlineBodyRecord
}

const KINDS = ['object', 'version', 'part', 'uploadPart'] as const
type Kind = (typeof KINDS)[number]

export interface InlinePlace {
  /** Name of the bucket before the present one; empty: there is none. */
  readonly afterBucket: string
  readonly kind: Kind
  /** Name of the last row that was read of this kind. */
  readonly after: string
}

export const FIRST_INLINE: InlinePlace = { afterBucket: '', kind: 'object', after: '' }

export interface InlinePage {
  readonly bodies: readonly WalkedBody[]
  /** Null: the walk is through. */
  readonly next: InlinePlace | null
}

type Named = Pick<WalkedBody, 'bodyId' | 'chunkId' | 'size'>
type Query = { readonly after: string; readonly limit: number }

/** Rows of parts that are read together: each lists up to a thousand of them. */
const PART_ROWS_MAX = 1

/** Reads at most `limit` rows that name bodies. Pages may be empty and not the last. */
export async function inlinePage(
  state: RowReader,
  tenantId: TenantId,
  { afterBucket, kind, after }: InlinePlace,
  limit: number,
): Promise<InlinePage> {
  const { items } = await state.page(bucketRanges.buckets(tenantId), { after: afterBucket, limit: 1 })
  const [bucket] = items
  if (bucket === undefined) return { bodies: [], next: null }
  const { items: named, next } = await PAGES[kind](state, bucket.id, { after, limit })
  const bodies = named.flatMap((body): readonly WalkedBody[] => {
    const row = state.get(bodyKeys.inlineBody(bucket.id, body.bodyId))
    return row === undefined ? [] : [{ bucket: bucket.name, bucketId: bucket.id, ...body, row }]
  })
  if (next !== null) return { bodies, next: { afterBucket, kind, after: next } }
  const following = KINDS[KINDS.indexOf(kind) + 1]
  const place =
    following === undefined ? { afterBucket: bucket.name, kind: KINDS[0] } : { afterBucket, kind: following }
  return { bodies, next: { ...place, after: '' } }
}

const PAGES: Readonly<
  Record<Kind, (state: RowReader, bucket: BucketId, query: Query) => Promise<Page<Named>>>
> = {
  object: (state, bucket, query) => versions(state, versionRanges.objects(bucket), query),
  version: (state, bucket, query) => versions(state, versionRanges.versions(bucket), query),
  part: (state, bucket, query) => parts(state, bodyRanges.partPages(bucket), query),
  uploadPart: (state, bucket, query) => parts(state, bodyRanges.allUploadPages(bucket), query),
}

async function versions(
  state: RowReader,
  range: KeyRange<VersionRecord>,
  query: Query,
): Promise<Page<Named>> {
  const { items, next } = await state.page(range, query)
  const named = items.flatMap((version) =>
    version.kind === 'object' ? inlineOf(version.versionId, version.size, version.body) : [],
  )
  return { items: named, next }
}

async function parts(
  state: RowReader,
  range: KeyRange<PartPageRecord | UploadPageRecord>,
  { after }: Query,
): Promise<Page<Named>> {
  const { items, next } = await state.page(range, { after, limit: PART_ROWS_MAX })
  const named = items.flatMap((page) =>
    page.parts.flatMap(({ partId, size, body }) => inlineOf(partId, size, body)),
  )
  return { items: named, next }
}

function inlineOf(bodyId: VersionId, size: number, body: BodyRecord): readonly Named[] {
  return body.kind === 'inline' ? [{ bodyId, chunkId: body.chunkId, size }] : []
}
