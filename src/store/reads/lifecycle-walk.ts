/**
 * Walks through a bucket for what its lifecycle rules would act on now, a page at a time.
 *
 * Owns: the order of the kinds, and where a page ends. Knows nothing of: what becomes of the result. Rule: a page is bounded, and of one moment.
 */
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import {
  type LifecyclePlanned,
  planUploads,
  planVersions,
  walkOf,
  type WalkedKind,
} from '../../state-machine/lifecycle/plan.ts'
import type { LifecycleRule } from '../../state-machine/lifecycle/records.ts'
import { objectRanges } from '../../state-machine/objects/keys.ts'
import { versionRanges } from '../../state-machine/versions/keys.ts'
import { atOneMoment } from './one-moment.ts'
import type { RowReader, StateReader } from './state-reader.ts'

export interface LifecyclePlace {
  readonly kind: WalkedKind
  /** Name of the last row of the page before; empty: there was none. */
  readonly after: string
}

export interface LifecyclePage {
  readonly planned: readonly LifecyclePlanned[]
  /** How many rows were read. */
  readonly rows: number
  /** Null: the walk is through. */
  readonly next: LifecyclePlace | null
}

interface LifecycleWalk {
  readonly bucket: BucketRecord
  readonly rules: readonly LifecycleRule[]
  /** By which it is judged what is due. ms since 1970 */
  readonly time: number
}

/** `place` null: from the beginning. Pages may be empty and not the last. */
export async function lifecyclePage(
  state: StateReader,
  walk: LifecycleWalk,
  place: LifecyclePlace | null,
  limit: number,
): Promise<LifecyclePage> {
  const steps = walkOf(walk.rules, walk.bucket)
  const found = place === null ? 0 : steps.findIndex(({ kind }) => kind === place.kind)
  const step = steps[found]
  if (step === undefined) return { planned: [], rows: 0, next: null }
  const query = { prefix: step.prefix, after: place?.after ?? '', limit }
  const { planned, rows, next } = await atOneMoment(state, (cut) => PAGES[step.kind](cut, walk, query))
  if (next !== null) return { planned, rows, next: { kind: step.kind, after: next } }
  const following = steps[found + 1]
  return { planned, rows, next: following === undefined ? null : { kind: following.kind, after: '' } }
}

type Query = { readonly prefix: string; readonly after: string; readonly limit: number }
type KindPage = Omit<LifecyclePage, 'next'> & { readonly next: string | null }

const PAGES: Readonly<
  Record<WalkedKind, (cut: RowReader, walk: LifecycleWalk, query: Query) => Promise<KindPage>>
> = {
  upload: async (cut, walk, query) => {
    const { items, next } = await cut.page(objectRanges.uploads(walk.bucket.id), query)
    return { planned: planUploads(walk, items), rows: items.length, next }
  },
  version: async (cut, walk, query) => {
    const { items, next } = await cut.page(versionRanges.versions(walk.bucket.id), query)
    return { planned: planVersions({ ...walk, view: cut }, items), rows: items.length, next }
  },
  object: async (cut, walk, query) => {
    const { items, next } = await cut.page(versionRanges.objects(walk.bucket.id), query)
    return { planned: planVersions({ ...walk, view: cut }, items), rows: items.length, next }
  },
}
