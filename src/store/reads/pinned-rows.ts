/**
 * Rows of a body that are read in the cut in which its version is found.
 *
 * Owns: which rows these are. Knows nothing of: who reads the body. Rule: every row that one entry may remove together with the version
 * is among them; a larger body is removed step by step, from its end.
 */
import { bodyKeys } from '../../state-machine/bodies/keys.ts'
import type { View } from '../../state-machine/base/view.ts'
import { DROPPED_LINKS_MAX } from '../../state-machine/bodies/bodies.ts'
import { readManifest } from '../../state-machine/bodies/manifests.ts'
import type { ChunkLink } from '../../state-machine/chunks/records.ts'
import type { InlineBodyRecord } from '../../state-machine/bodies/records.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'

/** Rows of a body that were read in the cut that its version was found in: later they may be gone. */
export interface PinnedRows {
  readonly inline?: InlineBodyRecord
  /** All links of the body. */
  readonly links?: readonly ChunkLink[]
}

export function pinRows(view: View, bucketId: BucketId, { body, versionId }: ObjectRecord): PinnedRows {
  if (body.kind === 'inline') {
    const inline = view.get(bodyKeys.inlineBody(bucketId, versionId))
    return inline === undefined ? {} : { inline }
  }
  if (body.kind !== 'chunks' || body.count > DROPPED_LINKS_MAX) return {}
  return { links: readManifest(view, bucketId, versionId, body.count) }
}
