/**
 * Buckets, and what one of them holds below a prefix, in pages.
 *
 * Rules: a list is one request for each page, never one for each row; what is loaded has a bound, and that there is more is said.
 */
import { signal } from '@preact/signals'
import type { Bucket, ListedObject } from '../../../client/src/index.ts'
import { dataResource, type Fault, faultOf } from './resource.ts'
import { keySession, noticeKeyRefusal } from './session.ts'

const BUCKETS_MAX = 2000
const PAGE = 1000
/** Of a listing on the screen; a longer prefix finds the rest. */
export const ROWS_MAX = 50_000
export const DELIMITER = '/'

export type Row =
  | { readonly kind: 'prefix'; readonly key: string }
  | { readonly kind: 'object'; readonly key: string; readonly object: ListedObject }

export interface Listing {
  readonly bucket: string
  readonly prefix: string
  readonly rows: readonly Row[]
  /** null: the listing is whole. */
  readonly next: string | null
}

export const buckets = dataResource(async (api) => {
  const rows: Bucket[] = []
  for await (const bucket of api.buckets({ maxBuckets: 1000, include: 'usage' })) {
    if (rows.length === BUCKETS_MAX) return { rows, isWhole: false }
    rows.push(bucket)
  }
  return { rows, isWhole: true }
})

/** Which one `oneBucket` loads. */
export const bucketName = signal('')
export const oneBucket = dataResource((api) => api.getBucket({ bucket: bucketName.peek() }))
/** Of the same one; a key that is limited to a prefix is refused. */
export const bucketUsage = dataResource((api) => api.getBucketUsage({ bucket: bucketName.peek() }))

export const listing = signal<Listing | null>(null)
export const listingFault = signal<Fault | null>(null)
export const isListing = signal(false)
let latest = 0

/** The first page of what begins with the prefix. */
export async function list(bucket: string, prefix: string): Promise<void> {
  const shown = listing.peek()
  if (shown?.bucket !== bucket || shown.prefix !== prefix) listing.value = null
  await page({ bucket, prefix, rows: [], next: null })
}

/** The page after those that are there, unless that is loaded already, or there is none. */
export async function listMore(): Promise<void> {
  const shown = listing.peek()
  if (shown?.next !== null && shown !== null && !isListing.peek() && shown.rows.length < ROWS_MAX)
    await page(shown)
}

async function page({ bucket, prefix, rows, next }: Listing): Promise<void> {
  const api = keySession.peek()?.api
  if (api === undefined) return
  const own = ++latest
  isListing.value = true
  listingFault.value = null
  try {
    const answer = await api.listObjects({
      bucket,
      prefix,
      delimiter: DELIMITER,
      maxKeys: PAGE,
      ...(next === null ? {} : { continuationToken: next }),
    })
    if (own !== latest) return
    const found = inOrder(answer.commonPrefixes, answer.objects)
    listing.value = {
      bucket,
      prefix,
      rows: [...rows, ...found],
      next: answer.nextContinuationToken ?? null,
    }
  } catch (error) {
    if (own !== latest) return
    noticeKeyRefusal(error)
    listingFault.value = faultOf(error)
  }
  isListing.value = false
}

/** Prefixes before objects, as in a folder. */
function inOrder(prefixes: readonly string[], objects: readonly ListedObject[]): readonly Row[] {
  return [
    ...prefixes.map((key): Row => ({ kind: 'prefix', key })),
    ...objects.map((object): Row => ({ kind: 'object', key: object.key, object })),
  ]
}
