/**
 * Digests over the digests of parts. [AWS S3 API reference: composite checksums]
 *
 * Owns: how they are made and written: the digest over the raw digests of the parts, in order, as base64, `-`, the number of parts.
 */
import { Refusal } from '../base/refusal.ts'
import type { ChecksumAlgorithm, Checksums, CompositeChecksum } from '../state-machine/bodies/records.ts'
import { BodyDigests, parseDigest } from './checksums.ts'

const SUFFIX = /-([0-9]{1,5})$/

/** Null if a part has no digest of the algorithm. */
export function compositeChecksum(
  algorithm: ChecksumAlgorithm,
  parts: readonly { readonly checksums: Checksums }[],
): CompositeChecksum | null {
  const digests = new BodyDigests(new Map(), [algorithm])
  for (const { checksums } of parts) {
    const digest = checksums[algorithm]
    if (digest === undefined) return null
    digests.update(Buffer.from(digest, 'base64'))
  }
  return { algorithm, checksum: `${digests.verified()[algorithm] ?? ''}-${parts.length}` }
}

/** The digest alone, by its algorithm. */
export function digestOfComposite({ algorithm, checksum }: CompositeChecksum): Checksums {
  return { [algorithm]: checksum.replace(SUFFIX, '') }
}

export interface ClaimedDigest {
  readonly digest: Uint8Array
  /** It says of how many parts it is; without that it may be of either type. */
  readonly isComposite: boolean
}

/** What a client claims for an object of `partCount` parts. Throws Refusal checksum_malformed, checksum_mismatch. */
export function parseDigestOfParts(
  algorithm: ChecksumAlgorithm,
  text: string,
  partCount: number,
): ClaimedDigest {
  const [suffix = '', count] = SUFFIX.exec(text) ?? []
  const digest = parseDigest(algorithm, text.slice(0, text.length - suffix.length))
  if (count === undefined) return { digest, isComposite: false }
  if (Number(count) === partCount) return { digest, isComposite: true }
  throw new Refusal(
    'checksum_mismatch',
    `The checksum ${algorithm} '${text}' is of ${count} parts, and the request names ${partCount}`,
  )
}
