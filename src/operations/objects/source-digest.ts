/**
 * A digest of the bytes of a copy's source, by an algorithm that the source has no digest by.
 *
 * Rules: the bytes are read as for a download, in turns with other work, and none of them are kept; it ends when the client goes away.
 */
import { BodyDigests } from '../../content/checksums.ts'
import { nodeSource } from '../../content/node-source.ts'
import type { ChecksumAlgorithm, Checksums } from '../../state-machine/bodies/records.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { PinnedRows } from '../../store/reads/pinned-rows.ts'
import type { Services } from '../base/services.ts'
import type { FoundObject } from './object-checks.ts'

type Pieces = AsyncIterable<Uint8Array>

export interface WantedDigest {
  readonly algorithm: ChecksumAlgorithm
  /** Gives the pieces of the source in turns with the work of other tenants. */
  readonly inTurns: (pieces: Pieces) => Pieces
  readonly signal: AbortSignal
}

export interface PinnedSource extends FoundObject {
  readonly pinned: PinnedRows
}

/** Over all bytes. Throws BodyGoneError when the source was replaced, Condition, and the reason of `signal`. */
export async function digestOfSource(
  { content }: Pick<Services, 'content'>,
  { tenant, source }: { readonly tenant: TenantRecord; readonly source: PinnedSource },
  { algorithm, inTurns, signal }: WantedDigest,
): Promise<Checksums> {
  const { bucket, object, pinned } = source
  const kept = object.checksums[algorithm]
  if (kept !== undefined) return { [algorithm]: kept }
  const range = { start: 0, end: object.size }
  const digests = new BodyDigests(new Map(), [algorithm])
  const pieces = inTurns(content.read(tenant, { bucketId: bucket.id, object, pinned }, range))
  for await (const piece of nodeSource(pieces)) {
    signal.throwIfAborted()
    digests.update(piece)
  }
  return digests.verified()
}
