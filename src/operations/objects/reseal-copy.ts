/**
 * The bytes of a copy whose source or target is sealed with a key of a client: read with the one key and stored with the other.
 *
 * Owns: the reading and the storing. Knows nothing of: the checks of a copy. Rules: nothing is read ahead of what is stored; the digests that the
 * source has are computed again of what was read.
 */
import type { KeyObject } from 'node:crypto'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { parseAlgorithm } from '../../content/checksums.ts'
import type { IngestedBody } from '../../content/content.ts'
import { nodeSource } from '../../content/node-source.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { CustomerSeal } from '../../state-machine/bodies/records.ts'
import type { Services } from '../base/services.ts'
import { uploadCallerOf } from '../base/upload-caller.ts'
import type { EtagForm } from '../../content/content.ts'
import type { PinnedSource, WantedDigest } from './source-digest.ts'

export interface Resealing {
  readonly tenant: TenantRecord
  readonly source: PinnedSource
  readonly sourceKey: KeyObject | undefined
  /** Of the copy. Undefined: it is sealed with the key of the tenant. */
  readonly customer: { readonly key: KeyObject; readonly seal: CustomerSeal } | undefined
  readonly etag: EtagForm
  /** Computed too. */
  readonly digest: WantedDigest | undefined
}

/** How the bytes of a copy are read. */
export type CopyReading = Pick<WantedDigest, 'inTurns' | 'signal'>

/** Throws BodyGoneError when the source was replaced, Refusal, Condition, and the reason of `signal`. */
export async function resealedCopy(
  { content }: Pick<Services, 'content'>,
  principal: AccessKeyPrincipal,
  { tenant, source, sourceKey, customer, etag, digest }: Resealing,
  { inTurns, signal }: CopyReading,
): Promise<IngestedBody> {
  const { bucket, object, pinned } = source
  const place = { bucketId: bucket.id, object, pinned, customerKey: sourceKey }
  const pieces = nodeSource(inTurns(content.read(tenant, place, { start: 0, end: object.size })))
  const wanted = new Set(Object.keys(object.checksums).map(parseAlgorithm))
  if (digest !== undefined) wanted.add(digest.algorithm)
  try {
    return await content.ingest({
      tenant,
      caller: uploadCallerOf(principal),
      source: pieces,
      expectedSize: object.size,
      sizeMax: object.size,
      claimed: new Map(),
      wanted: [...wanted],
      etag,
      customer,
      signal,
    })
  } finally {
    // The upload may have ended before the source did.
    await pieces.return(undefined)
  }
}
