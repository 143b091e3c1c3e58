/**
 * Walks through a bucket of a tenant that is being deleted: rows that have to be removed, and rows that must not be.
 *
 * Owns: the order of the kinds. Knows nothing of: whether anything may go. Rules: pages are bounded, and each is of one moment;
 * rows without a version of their own come first, and the current objects last, because a version below moves up into their rows.
 */
import assert from 'node:assert/strict'
import { versionRanges } from '../../state-machine/versions/keys.ts'
import { objectRanges } from '../../state-machine/objects/keys.ts'
import type { KeyRange } from '../../state-machine/base/row-key.ts'
import type { ErasedItem } from '../../state-machine/removal/commands.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import { versionAt } from '../../state-machine/versions/versions.ts'
import { atOneMoment } from './one-moment.ts'
import type { Page, PageQuery, RowReader, StateReader } from './state-reader.ts'

const KINDS = ['upload', 'completed', 'idempotency', 'version', 'object'] as const
type ContentKind = (typeof KINDS)[number]

export interface ContentPlace {
  readonly kind: ContentKind
  /** Name of the last row of the page before; empty: there was none. */
  readonly after: string
}

export interface ContentPage {
  readonly items: readonly ErasedItem[]
  /** Null: this was the last page of the last kind. */
  readonly next: ContentPlace | null
}

export const FIRST_CONTENT: ContentPlace = { kind: KINDS[0], after: '' }

/** Items of one kind; a page may be empty and not the last. */
export async function contentPage(
  state: RowReader,
  bucket: BucketId,
  { kind, after }: ContentPlace,
  limit: number,
): Promise<ContentPage> {
  const page = await WALKS[kind](state, bucket, { after, limit })
  if (page.next !== null) return { items: page.items, next: { kind, after: page.next } }
  const following = KINDS[KINDS.indexOf(kind) + 1]
  return { items: page.items, next: following === undefined ? null : { kind: following, after: '' } }
}

type Walk = (state: RowReader, bucket: BucketId, query: PageQuery) => Promise<Page<ErasedItem>>

async function ofVersions(
  state: RowReader,
  range: KeyRange<VersionRecord>,
  query: PageQuery,
): Promise<Page<ErasedItem>> {
  const { items, next } = await state.page(range, query)
  return { items: items.map(({ key, versionId }) => ({ kind: 'version', key, versionId })), next }
}

const WALKS: Readonly<Record<ContentKind, Walk>> = {
  upload: async (state, bucket, query) => {
    const { items, next } = await state.page(objectRanges.uploads(bucket), query)
    return { items: items.map(({ key, uploadId }) => ({ kind: 'upload', key, uploadId })), next }
  },
  completed: async (state, bucket, query) => {
    const { items, names, next } = await state.page(objectRanges.completions(bucket), query)
    return {
      items: items.map(({ object: { key } }, n) => ({
        kind: 'completed',
        key,
        uploadId: lastPart(names[n]),
      })),
      next,
    }
  },
  idempotency: async (state, bucket, query) => {
    const { items, names, next } = await state.page(objectRanges.idempotencies(bucket), query)
    return {
      items: items.map(({ object: { key } }, n) => ({ kind: 'idempotency', key, name: lastPart(names[n]) })),
      next,
    }
  },
  version: (state, bucket, query) => ofVersions(state, versionRanges.versions(bucket), query),
  object: (state, bucket, query) => ofVersions(state, versionRanges.objects(bucket), query),
}

function lastPart(name = ''): string {
  return name.slice(name.lastIndexOf('\u0000') + 1)
}

/**
 * Versions that carry a retention or a legal hold, whether it has ended or not; all of a page from one moment. By their index:
 * every version that it names exists, so no locked version is overlooked.
 */
export function lockedVersions(
  reader: StateReader,
  bucket: BucketId,
  query: PageQuery,
): Promise<Page<VersionRecord>> {
  return atOneMoment(reader, async (cut) => {
    const { items, next } = await cut.page(versionRanges.lockedVersions(bucket), query)
    const versions = items.map(({ key, versionId }) => {
      const version = versionAt(cut, bucket, key, versionId)
      assert(version !== undefined, 'a version that the index of locked ones names is there')
      return version
    })
    return { items: versions, next }
  })
}
