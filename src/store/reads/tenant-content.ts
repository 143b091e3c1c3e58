/**
 * Walks through a bucket for those who end a tenant: what has to be removed, and what must not be.
 *
 * Owns: the order of the kinds. Knows nothing of: whether anything may go. Rules: pages are bounded, and each is of one moment;
 * what has no version of its own comes first, and the current objects last, because a version below moves up into their rows.
 */
import assert from 'node:assert/strict'
import type { CompletedRecord, IdempotencyRecord, UploadRecord } from '../../state-machine/objects/records.ts'
import { versionRanges } from '../../state-machine/versions/keys.ts'
import { objectRanges } from '../../state-machine/objects/keys.ts'
import type { KeyRange } from '../../state-machine/base/row-key.ts'
import type { ErasedItem } from '../../state-machine/removal/commands.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import { versionAt } from '../../state-machine/versions/versions.ts'
import { cutView } from '../rows/cut-view.ts'
import type { OpenState } from '../rows/open-state.ts'
import { type PageQuery, readPage } from './row-page.ts'
import type { Page } from './state-reader.ts'

const KINDS = ['upload', 'completed', 'idempotency', 'version', 'object'] as const
type ContentKind = (typeof KINDS)[number]

export interface ContentPlace {
  readonly kind: ContentKind
  /** Name of the last row that was seen; empty: none was. */
  readonly after: string
}

export interface ContentPage {
  readonly items: readonly ErasedItem[]
  /** Null: that was the last of the last kind. */
  readonly next: ContentPlace | null
}

export const FIRST_CONTENT: ContentPlace = { kind: KINDS[0], after: '' }

/** Of one kind; it may be empty and not the last. */
export async function contentPage(
  state: OpenState,
  bucket: BucketId,
  { kind, after }: ContentPlace,
  limit: number,
): Promise<ContentPage> {
  const page = await WALKS[kind](state, { all: rangeOf(bucket, kind), after, limit })
  if (page.next !== null) return { items: page.items, next: { kind, after: page.next } }
  const following = KINDS[KINDS.indexOf(kind) + 1]
  return { items: page.items, next: following === undefined ? null : { kind: following, after: '' } }
}

type Walk = (
  state: OpenState,
  query: { readonly all: KeyRange; readonly after: string; readonly limit: number },
) => Promise<Page<ErasedItem>>

const ofVersions: Walk = async (state, query) => {
  const { items, next } = await readPage(state, query as PageQuery<VersionRecord>)
  return { items: items.map(({ key, versionId }) => ({ kind: 'version', key, versionId })), next }
}

const WALKS: Readonly<Record<ContentKind, Walk>> = {
  upload: async (state, query) => {
    const { items, next } = await readPage(state, query as PageQuery<UploadRecord>)
    return { items: items.map(({ key, uploadId }) => ({ kind: 'upload', key, uploadId })), next }
  },
  completed: async (state, query) => {
    const { items, names, next } = await readPage(state, query as PageQuery<CompletedRecord>)
    return {
      items: items.map(({ object: { key } }, n) => ({
        kind: 'completed',
        key,
        uploadId: lastPart(names[n]),
      })),
      next,
    }
  },
  idempotency: async (state, query) => {
    const { items, names, next } = await readPage(state, query as PageQuery<IdempotencyRecord>)
    return {
      items: items.map(({ object: { key } }, n) => ({ kind: 'idempotency', key, name: lastPart(names[n]) })),
      next,
    }
  },
  version: ofVersions,
  object: ofVersions,
}

function rangeOf(bucket: BucketId, kind: ContentKind): KeyRange {
  switch (kind) {
    case 'upload':
      return objectRanges.uploads(bucket)
    case 'completed':
      return objectRanges.completions(bucket)
    case 'idempotency':
      return objectRanges.idempotencies(bucket)
    case 'version':
      return versionRanges.versions(bucket)
    case 'object':
      return versionRanges.objects(bucket)
  }
}

function lastPart(name = ''): string {
  return name.slice(name.lastIndexOf('\u0000') + 1)
}

/** By their index; what it names is there, so nothing that is locked is overlooked. */
export async function lockedVersions(
  state: OpenState,
  bucket: BucketId,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<Page<VersionRecord>> {
  const snapshot = state.db.snapshot()
  try {
    const view = cutView(state.db, snapshot)
    const all = versionRanges.lockedVersions(bucket)
    const { items, next } = await readPage(state, { all, after, limit, snapshot })
    const versions = items.map(({ key, versionId }) => {
      const version = versionAt(view, bucket, key, versionId)
      assert(version !== undefined, 'a version that the index of locked ones names is there')
      return version
    })
    return { items: versions, next }
  } finally {
    await snapshot.close()
  }
}
