/**
 * Rows of a body that are read in the cut in which its version is found.
 *
 * Owns: which rows these are. Knows nothing of: who reads the body. Rule: all that one entry may remove together with the version
 * is among them; a larger body goes step by step, from its end.
 */
import { bodyKeys } from '../../state-machine/bodies/keys.ts'
import type { View } from '../../state-machine/base/view.ts'
import { DROPPED_LINKS_MAX } from '../../state-machine/bodies/bodies.ts'
import { readManifest } from '../../state-machine/bodies/manifests.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import type { PinnedRows } from './state-reader.ts'

export function pinRows(view: View, bucketId: BucketId, { body, versionId }: ObjectRecord): PinnedRows {
  if (body.kind === 'inline') {
    const inline = view.get(bodyKeys.inlineBody(bucketId, versionId))
    return inline === undefined ? {} : { inline }
  }
  if (body.kind !== 'chunks' || body.count > DROPPED_LINKS_MAX) return {}
  return { links: readManifest(view, bucketId, versionId, body.count) }
}
