/**
 * What a bucket holds, for the other site: a page of current objects, each behind the older versions of its key.
 *
 * Owns: the order: of each key the oldest version first. Rule: a page is bounded: of a key with many versions the newest are taken.
 */
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { ObjectRecord, VersionRecord } from '../../state-machine/versions/records.ts'
import { versionKeys, versionRanges } from '../../state-machine/versions/keys.ts'
import type { View } from '../../state-machine/base/view.ts'
import { atOneMoment } from './one-moment.ts'
import type { StateReader } from './state-reader.ts'

export interface SiteWalkPage {
  readonly items: readonly { readonly key: string; readonly versionId: string }[]
  /** Name of the last row that was looked at; null: the walk is through. */
  readonly next: string | null
}

/** `itemsMax`: a key is not cut, unless it alone has more. */
export function siteWalkPage(
  state: StateReader,
  { id }: Pick<BucketRecord, 'id'>,
  { after, itemsMax }: { readonly after: string; readonly itemsMax: number },
): Promise<SiteWalkPage> {
  return atOneMoment(state, async (cut) => {
    const range = versionRanges.objects(id)
    const { items: objects, names, next } = await cut.page(range, { after, limit: itemsMax })
    const items: { key: string; versionId: string }[] = []
    for (const [n, object] of objects.entries()) {
      const ofKey = versionsOf(cut, id, object, itemsMax)
      if (n > 0 && items.length + ofKey.length > itemsMax) {
        const last = names[n - 1] ?? ''
        return { items, next: last.slice(range.start.length) }
      }
      for (const { key, versionId } of ofKey) items.push({ key, versionId })
    }
    return { items, next }
  })
}

/** Oldest first; delete markers between them are left out. */
function versionsOf(
  view: View,
  bucketId: string,
  current: ObjectRecord,
  max: number,
): readonly ObjectRecord[] {
  const versions: ObjectRecord[] = []
  let at: VersionRecord | undefined = current
  while (at !== undefined && versions.length < max) {
    if (at.kind === 'object') versions.push(at)
    const older: string | null = at.older
    at = older === null ? undefined : view.get(versionKeys.version(bucketId, current.key, older))
  }
  return versions.reverse()
}
