/**
 * The parts of an upload, by number, in pages.
 *
 * Owns: which row holds a part. Knows nothing of: the bytes of a part, what an upload is.
 * Rule: a page is short, because every put part rewrites its page; it is long enough that ten thousand parts need few rows,
 * because one entry reads and removes all of them when they become an object.
 */
import { bodyKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import type { RowKey } from '../base/row-key.ts'
import type { Draft } from '../base/draft.ts'
import type { BucketId } from '../base/record-ids.ts'
import type { PartRecord, UploadPageRecord } from './records.ts'

export const PARTS_PER_UPLOAD_PAGE = 32

export interface UploadPlace {
  readonly bucketId: BucketId
  readonly uploadId: string
}

/** The page of a part number. */
export function uploadPageOf(partNumber: number): number {
  return Math.floor((partNumber - 1) / PARTS_PER_UPLOAD_PAGE)
}

export function findPart(view: View, place: UploadPlace, partNumber: number): PartRecord | undefined {
  return partFinder(view, place)(partNumber)
}

/** Finds many parts of one upload: consecutive numbers in one page read that page once. */
export function partFinder(view: View, place: UploadPlace): (partNumber: number) => PartRecord | undefined {
  let page = -1
  let parts: readonly PartRecord[] = []
  return (partNumber) => {
    if (uploadPageOf(partNumber) !== page) {
      page = uploadPageOf(partNumber)
      parts = partsIn(view, pageKey(place, page))
    }
    return parts.find((part) => part.partNumber === partNumber)
  }
}

/** Replaces a part of the same number. */
export function storePart(draft: Draft, place: UploadPlace, part: PartRecord): void {
  const key = pageKey(place, uploadPageOf(part.partNumber))
  const others = partsIn(draft, key).filter(({ partNumber }) => partNumber !== part.partNumber)
  const parts = [...others, part].sort((one, other) => one.partNumber - other.partNumber)
  draft.put(key, { parts })
}

/** Removes parts and returns those that existed, ordered by number if `partNumbers` is. The caller has to drop their bodies. */
export function takeParts(
  draft: Draft,
  place: UploadPlace,
  partNumbers: readonly number[],
): readonly PartRecord[] {
  const taken: PartRecord[] = []
  for (const [page, numbers] of byPage(partNumbers)) {
    const key = pageKey(place, page)
    const parts = partsIn(draft, key)
    const left = parts.filter(({ partNumber }) => !numbers.has(partNumber))
    if (left.length === parts.length) continue
    taken.push(...parts.filter(({ partNumber }) => numbers.has(partNumber)))
    if (left.length === 0) draft.remove(key)
    else draft.put(key, { parts: left })
  }
  return taken
}

function byPage(partNumbers: readonly number[]): ReadonlyMap<number, ReadonlySet<number>> {
  const pages = new Map<number, Set<number>>()
  for (const partNumber of partNumbers) {
    const page = uploadPageOf(partNumber)
    const numbers = pages.get(page)
    if (numbers === undefined) pages.set(page, new Set([partNumber]))
    else numbers.add(partNumber)
  }
  return pages
}

function pageKey({ bucketId, uploadId }: UploadPlace, page: number): RowKey<UploadPageRecord> {
  return bodyKeys.uploadPage(bucketId, uploadId, page)
}

function partsIn(view: View, key: RowKey<UploadPageRecord>): readonly PartRecord[] {
  return view.get(key)?.parts ?? []
}
