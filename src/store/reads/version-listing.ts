/**
 * Listing of all versions of a bucket: keys in UTF-8 byte order, of a key the newest first, with everything below a
 * common prefix folded into one line.
 *
 * Owns: the merge of object rows with version rows. Knows nothing of: tokens, HTTP. [decisions 4]
 * Rules: both are read from one cut; work is bounded by the page, not by the bucket nor by the versions of a key: it
 * begins behind the marker, and rows below a common prefix are stepped over, by what is known of them or by a seek where there are many.
 */
import assert from 'node:assert/strict'
import { versionKeys, versionRanges } from '../../state-machine/versions/keys.ts'
import type { View } from '../../state-machine/base/view.ts'
import { comesBefore } from '../../state-machine/base/key-order.ts'
import { successor } from '../../state-machine/base/row-key.ts'
import type { BucketId, VersionId } from '../../state-machine/base/record-ids.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import { isVersionId, VERSION_ID_MAX } from '../../state-machine/base/version-id.ts'
import { findVersion, NULL_VERSION } from '../../state-machine/versions/versions.ts'
import { commonPrefixOf } from './folded-page.ts'
import type { ListedVersion } from '../../state-machine/versions/listed-version.ts'
import { readListedVersion } from './listed-rows.ts'
import { type CursorRange, RowCursor } from '../rows/row-cursor.ts'
import { cutView } from '../rows/cut-view.ts'
import type { GapWalk } from '../rows/known-gaps.ts'
import type { OpenState } from '../rows/open-state.ts'
import { PAGE_ROWS_MAX } from './row-page.ts'
import type { StateReader } from './state-reader.ts'

/** Where a page of versions ended; the request for the next page gives it. */
export interface VersionMarker {
  /**
   * The key shown last, or the common prefix shown last. Of a text inside a common prefix nothing below this prefix comes. Empty: from
   * the beginning.
   */
  readonly keyMarker: string
  /**
   * The version of that key shown last; its older ones come next. Empty: no further version of that key comes. A marker that a
   * page gave is the version's own id, also of a null version: that one may be replaced between two pages. `null` is
   * taken for the null version of the moment; without one, all versions of the key come.
   */
  readonly versionIdMarker: string
}

export interface ListVersionsQuery extends VersionMarker {
  readonly prefix: string
  readonly delimiter: string
  /** 1..1000; versions, delete markers and common prefixes count alike. */
  readonly limit: number
}

export interface VersionPage {
  /** Keys ascending, of a key the newest first. Exactly one of each key is the latest. */
  readonly versions: readonly ListedVersion[]
  readonly commonPrefixes: readonly string[]
  readonly next: VersionMarker | null
}

export function pageOfVersions(
  state: StateReader,
  bucket: BucketId,
  query: ListVersionsQuery,
): Promise<VersionPage> {
  assert(query.limit >= 1 && query.limit <= PAGE_ROWS_MAX, 'a listing asks for 1 to 1,000 lines')
  return state.lease((opened) => pageOf(opened, bucket, query))
}

async function pageOf(
  { db, knownGaps }: Pick<OpenState, 'db' | 'knownGaps'>,
  bucket: BucketId,
  query: ListVersionsQuery,
): Promise<VersionPage> {
  const snapshot = db.snapshot()
  const gapWalks = [knownGaps.walk(), knownGaps.walk()] as const
  const open: VersionCursor[] = []
  try {
    const shown = lastShown(cutView(db, snapshot), bucket, query)
    const { prefix, limit } = query
    const [objects, versions] = walks(bucket, query, shown)
    const cursorOf = async (walk: Walk, gaps: GapWalk): Promise<VersionCursor> => {
      const range = { ...walk, prefix, lines: limit + 1, snapshot, gaps }
      const cursor = await RowCursor.open(db, range, readListedVersion)
      open.push(cursor)
      return cursor
    }
    const cursors = [await cursorOf(objects, gapWalks[0]), await cursorOf(versions, gapWalks[1])] as const
    await passShown(cursors[0], query.keyMarker, shown)
    return await merge(cursors, query)
  } finally {
    for (const cursor of open) await cursor.close()
    for (const gaps of gapWalks) gaps.close()
    await snapshot.close()
  }
}

/** The version of `keyMarker` to continue behind; null: behind all of them. */
function lastShown(view: View, bucket: BucketId, query: ListVersionsQuery): VersionId | null {
  const { keyMarker, versionIdMarker } = query
  if (keyMarker === '' || versionIdMarker === '') return null
  if (isVersionId(versionIdMarker)) return versionIdMarker
  const found =
    versionIdMarker === NULL_VERSION ? findVersion(view, bucket, keyMarker, NULL_VERSION) : undefined
  return found?.versionId ?? VERSION_ID_MAX
}

/** The object row of the marked key, if its version was shown. */
async function passShown(objects: VersionCursor, key: string, shown: VersionId | null): Promise<void> {
  if (shown === null || objects.name !== key || objects.row().versionId < shown) return
  if (!objects.next()) await objects.more()
}

type VersionCursor = RowCursor<VersionRecord, ListedVersion>
type Walk = Pick<CursorRange<VersionRecord>, 'all' | 'first'>

/**
 * Where the rows begin that were not shown yet. Behind a version of the marked key the object row counts too: its version may
 * have moved up into it since, when the versions above it were removed.
 */
function walks(bucket: BucketId, query: ListVersionsQuery, shown: VersionId | null): readonly [Walk, Walk] {
  const { keyMarker: key } = query
  const [objects, versions] = [versionRanges.objects(bucket), versionRanges.versions(bucket)]
  const from = (object: string, version: string): readonly [Walk, Walk] => [
    { all: objects, first: object },
    { all: versions, first: version },
  ]
  if (key === '') return from(objects.start, versions.start)
  const folded = commonPrefixOf(key, query)
  if (folded !== null) return from(successor(objects.start + folded), successor(versions.start + folded))
  if (shown !== null)
    return from(versionKeys.object(bucket, key), `${versionKeys.version(bucket, key, shown)}\u0000`)
  // A key holds no NUL: behind the key and a NUL come the other rows of the key, and then other keys.
  return from(`${objects.start}${key}\u0000`, `${versions.start}${key}\u0001`)
}

async function merge(
  cursors: readonly [objects: VersionCursor, versions: VersionCursor],
  query: ListVersionsQuery,
): Promise<VersionPage> {
  const versions: ListedVersion[] = []
  const commonPrefixes: string[] = []
  let next: VersionMarker | null = null
  const isFolded = (name: string): boolean => commonPrefixOf(name, query) !== null
  for (;;) {
    const cursor = foremost(cursors)
    if (cursor.name === null) return { versions, commonPrefixes, next: null }
    if (versions.length + commonPrefixes.length === query.limit) return { versions, commonPrefixes, next }
    const folded = commonPrefixOf(cursor.name, query)
    if (folded === null) {
      const version = cursor.row()
      versions.push(version)
      next = { keyMarker: version.key, versionIdMarker: version.versionId }
      if (!cursor.next()) await cursor.more()
    } else {
      commonPrefixes.push(folded)
      next = { keyMarker: folded, versionIdMarker: '' }
      const behind = cursors.filter((one) => !one.skip(folded, isFolded))
      if (behind.length > 0) await Promise.all(behind.map((one) => one.more()))
    }
  }
}

/** The object of a key comes before its versions: it is the newest. */
function foremost([objects, versions]: readonly [VersionCursor, VersionCursor]): VersionCursor {
  if (objects.name === null) return versions
  if (versions.name === null) return objects
  return comesBefore(versions.name, objects.name) ? versions : objects
}
