/**
 * The version that a change is about, as it is here now, with a reader of its bytes.
 *
 * Rule: version, neighbours and the rows of its body are of one moment, so that an overwrite in between breaks nothing.
 */
import type { ByteRange } from '../../content/range.ts'
import type { Content } from '../../content/content.ts'
import type { View } from '../../state-machine/base/view.ts'
import { PARTS_PER_PAGE } from '../../state-machine/bodies/bodies.ts'
import { type Mark, MARK_NAME, readMark } from '../../state-machine/sites/mark.ts'
import type { SiteChangeRecord } from '../../state-machine/sites/records.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import { newestVersion, versionAt } from '../../state-machine/versions/versions.ts'
import { partsBehind } from '../../store/reads/object-parts.ts'
import { pinRows } from '../../store/reads/pinned-rows.ts'
import type { StateReader } from '../../store/reads/state-reader.ts'
import type { KeyHere, SentVersion } from './send-change.ts'

interface ReadFrom {
  readonly state: Pick<StateReader, 'cut'>
  readonly content: Pick<Content, 'read'>
}

/** Versions of one key that are looked through, below the change. */
const VERSIONS_LOOKED_MAX = 1_000

/** Each question is answered from the rows of its moment. */
export function keyHere(
  { state }: Pick<ReadFrom, 'state'>,
  bucketId: string,
  { key, versionId }: SiteChangeRecord,
): KeyHere {
  return {
    get isPresent() {
      return state.cut((view) => newestVersion(view, bucketId, key)?.kind === 'object')
    },
    has: (id) => state.cut((view) => versionAt(view, bucketId, key, id) !== undefined),
    hadBefore: (origin) =>
      state.cut((view) => {
        let at = versionAt(view, bucketId, key, versionId) ?? newestVersion(view, bucketId, key)
        for (let looked = 0; at !== undefined && looked < VERSIONS_LOOKED_MAX; looked++) {
          if (at.versionId < versionId && isCopyOf(at, origin)) return true
          const older: string | null = at.older
          at = older === null ? undefined : versionAt(view, bucketId, key, older)
        }
        return false
      }),
  }
}

function isCopyOf(
  version: VersionRecord,
  { clusterId, bucketId, versionId }: Pick<Mark, 'clusterId' | 'bucketId' | 'versionId'>,
): boolean {
  const mark = readMark(version.kind === 'object' ? version.metadata[MARK_NAME] : version.replicaOf)
  return mark?.clusterId === clusterId && mark.bucketId === bucketId && mark.versionId === versionId
}

/** Null: it is gone, or it is a delete marker. */
export function readVersion(
  { state, content }: ReadFrom,
  { tenantId, bucketId }: { readonly tenantId: string; readonly bucketId: string },
  { key, versionId }: SiteChangeRecord,
): SentVersion | null {
  return state.cut((view) => {
    const tenant = view.get(tenantKeys.tenant(tenantId))
    const object = versionAt(view, bucketId, key, versionId)
    if (tenant === undefined || object?.kind !== 'object') return null
    const source = { bucketId, object, pinned: pinRows(view, bucketId, object) }
    const body = (range: ByteRange = { start: 0, end: object.size }) => content.read(tenant, source, range)
    const assembledOf = partSizes(view, source)
    return {
      ...source,
      isCurrent: object.newer === null,
      ...(assembledOf === null ? {} : { assembledOf }),
      body,
    }
  })
}

/** Null: it was not assembled. Its pages go while it is removed: then it is gone for the next attempt. */
function partSizes(view: View, { bucketId, object }: Pick<SentVersion, 'bucketId' | 'object'>) {
  const { versionId, body } = object
  if (body.kind !== 'parts') return null
  const sizes: number[] = []
  while (sizes.length < body.count) {
    const page = { after: sizes.length, limit: PARTS_PER_PAGE }
    const parts = partsBehind(view, { bucketId, versionId, body }, page)
    if (parts === null || parts.length === 0) return null
    sizes.push(...parts.map(({ size }) => size))
  }
  return sizes
}
