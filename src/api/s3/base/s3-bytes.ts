/**
 * The body of a request of the S3 API: plain bytes out of whatever it is sent in, proved before their end is reached.
 *
 * Owns: which proof belongs to which `x-amz-content-sha256`, and the digests that a client claims. Rules: a consumer that came to the end without an error has
 * bytes that are those that were signed; so what it stores, it stores after that. A digest in a trailer is known after the last byte.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { SignatureFault } from '../../../access/signature-v4/signature-fault.ts'
import { SignedChunks } from '../../../access/signature-v4/signed-chunks.ts'
import type { Signing } from '../../../access/signature-v4/signing-key.ts'
import type { PayloadProof } from '../../../access/signature-v4/verify-signature.ts'
import { isSameSignature } from '../../../access/signature-v4/signing-key.ts'
import { joinClaims, parseAlgorithm, parseClaims, type TrailingClaims } from '../../../content/checksums.ts'
import type { BodySource } from '../../../content/content.ts'
import { readDigestHeaders } from '../../content-digests.ts'
import { headerText } from '../../header-text.ts'
import { S3Fault } from './s3-errors.ts'
import type { S3Bytes } from './s3-route.ts'

const CHECKSUM = 'x-amz-checksum-'
/** Say how digests are meant, and claim none. */
const NO_DIGESTS: ReadonlySet<string> = new Set([
  'x-amz-checksum-mode',
  'x-amz-checksum-algorithm',
  'x-amz-checksum-type',
])
const LENGTH = /^\d{1,15}$/

export interface SentBody {
  readonly headers: IncomingHttpHeaders
  readonly payload: PayloadProof
  /** Null: nothing signs the chunks of a body, such as in a browser form. */
  readonly signing: (Signing & { readonly first: string }) | null
  readonly source: BodySource
  /** Content-Length; null without it. */
  readonly length: number | null
}

/** Throws S3Fault, SignatureFault, Refusal for headers that contradict each other or cannot be read. */
export function s3Bytes(sent: SentBody): S3Bytes {
  const { headers, payload } = sent
  const claimed = joinClaims(checksumClaims(headers), readDigestHeaders(headers))
  if (payload.kind !== 'chunks') {
    if (headers['x-amz-trailer'] !== undefined)
      throw new S3Fault(
        'InvalidRequest',
        'x-amz-trailer belongs to a body whose x-amz-content-sha256 ends with -TRAILER',
      )
    const source = payload.kind === 'hash' ? hashed(sent.source, payload.sha256) : sent.source
    return { source, length: sent.length, claimed, trailing: undefined }
  }
  const length = decodedLength(headers)
  const chunks = new SignedChunks({
    signing: payload.areSigned ? sent.signing : null,
    hasTrailers: payload.hasTrailers,
    length,
  })
  let trailers: ReadonlyMap<string, string> = new Map()
  const source = decoded(sent.source, chunks, (found) => {
    trailers = found
  })
  return { source, length, claimed, trailing: trailingClaims(headers, payload.hasTrailers, () => trailers) }
}

/** Names of algorithms and what `x-amz-checksum-<algorithm>` says of each. */
export function claimedChecksums(
  headers: IncomingHttpHeaders,
): readonly (readonly [algorithm: string, text: string])[] {
  const names = Object.keys(headers).filter((name) => name.startsWith(CHECKSUM) && !NO_DIGESTS.has(name))
  return names.map((name) => [algorithmIn(name), (headerText(headers, name) ?? '').trim()] as const)
}

/** Of `x-amz-checksum-<algorithm>`. Throws Refusal checksum_malformed, checksum_unsupported. */
export function checksumClaims(headers: IncomingHttpHeaders): ReturnType<typeof parseClaims> {
  return parseClaims(claimedChecksums(headers))
}

/** For bodies that are not what the digests are of. */
export function withoutChecksums(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(CHECKSUM)))
}

const algorithmIn = (name: string): string => name.slice(CHECKSUM.length).toUpperCase()

function trailingClaims(
  headers: IncomingHttpHeaders,
  hasTrailers: boolean,
  trailers: () => ReadonlyMap<string, string>,
): TrailingClaims | undefined {
  const announced = (headerText(headers, 'x-amz-trailer') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
  if (!hasTrailers) {
    if (announced.length === 0) return undefined
    throw new S3Fault(
      'InvalidRequest',
      'x-amz-trailer belongs to a body whose x-amz-content-sha256 ends with -TRAILER',
    )
  }
  const other = announced.find((name) => !name.startsWith(CHECKSUM))
  if (other !== undefined)
    throw new S3Fault(
      'InvalidRequest',
      `The trailer ${other.slice(0, 80)} is not supported: x-amz-checksum-* are`,
    )
  const algorithms = announced.map((name) => parseAlgorithm(algorithmIn(name)))
  return {
    algorithms,
    read: () => {
      const came = trailers()
      const missing = announced.find((name) => !came.has(name))
      const foreign = [...came.keys()].find((name) => !announced.includes(name))
      if (missing !== undefined || foreign !== undefined)
        throw new S3Fault('MalformedTrailerError', 'The trailers are not those that x-amz-trailer announces')
      return parseClaims([...came].map(([name, value]) => [algorithmIn(name), value] as const))
    },
  }
}

function decodedLength(headers: IncomingHttpHeaders): number {
  const text = headerText(headers, 'x-amz-decoded-content-length')
  if (text === undefined)
    throw new S3Fault('MissingContentLength', 'A body in signed chunks needs x-amz-decoded-content-length')
  if (LENGTH.test(text)) return Number(text)
  throw new S3Fault(
    'InvalidArgument',
    `x-amz-decoded-content-length is "${text.slice(0, 80)}", expected a whole number of bytes`,
  )
}

function hashed(source: BodySource, sha256: string): BodySource {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    for await (const piece of source) {
      hash.update(piece)
      yield piece
    }
    if (!isSameSignature(hash.digest('hex'), sha256))
      throw new SignatureFault(
        'XAmzContentSHA256Mismatch',
        'The body is not the one whose SHA-256 x-amz-content-sha256 gives',
      )
  }
  return passing(bytes(), source)
}

/** The reader is done with all views of a piece when it asks for the next, as it is with whole pieces. */
function decoded(
  source: BodySource,
  chunks: SignedChunks,
  onEnd: (trailers: ReadonlyMap<string, string>) => void,
): BodySource {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) yield* chunks.feed(piece)
    onEnd(chunks.end())
  }
  return passing(bytes(), source)
}

function passing(bytes: AsyncGenerator<Uint8Array>, source: BodySource): BodySource {
  return Object.assign(bytes, { heldMs: () => source.heldMs?.() ?? 0 })
}
