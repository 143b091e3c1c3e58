/**
 * Digests that a client claims in trailer fields, behind a body in chunks. [RFC 9110 6.5]
 *
 * Rules: what is announced by `Trailer` is verified before the commit; every other trailer field is refused, because a claim that
 * comes unannounced could only be ignored: its digest was not computed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import {
  type ClaimAlgorithm,
  joinClaims,
  parseAlgorithm,
  parseClaims,
  type TrailingClaims,
} from '../../content/checksums.ts'
import { Refusal } from '../../base/refusal.ts'
import { DIGEST_HEADERS, readDigestHeaders } from '../content-digests.ts'
import { headerText } from '../header-text.ts'

export const CHECKSUM_PREFIX = 'x-service-checksum-'

/** `trailers`: asked for after the end of the body. Throws Refusal not_implemented for a field that claims no digest, checksum_unsupported. */
export function readTrailingClaims(
  headers: IncomingHttpHeaders,
  trailers: () => IncomingHttpHeaders,
): TrailingClaims {
  const announced = (headerText(headers, 'trailer') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
  const algorithms = announced.flatMap(algorithmsOf)
  return {
    algorithms,
    read: () => {
      const came = trailers()
      refuseOthers(announced, came)
      return joinClaims(readDigestHeaders(came), checksumClaims(came))
    },
  }
}

/** Of the headers `X-Service-Checksum-<ALG>`. Throws Refusal checksum_malformed, checksum_unsupported. */
export function checksumClaims(headers: IncomingHttpHeaders): ReturnType<typeof parseClaims> {
  const names = Object.keys(headers).filter((name) => name.startsWith(CHECKSUM_PREFIX))
  return parseClaims(
    names.map((name) => [algorithmIn(name), (headerText(headers, name) ?? '').trim()] as const),
  )
}

const algorithmIn = (name: string): string => name.slice(CHECKSUM_PREFIX.length).toUpperCase()

function algorithmsOf(name: string): readonly ClaimAlgorithm[] {
  if (Object.hasOwn(DIGEST_HEADERS, name)) return DIGEST_HEADERS[name] ?? []
  if (name.startsWith(CHECKSUM_PREFIX)) return [parseAlgorithm(algorithmIn(name))]
  throw new Refusal(
    'not_implemented',
    `The trailer field ${name.slice(0, 80)} is not supported: only Content-Digest, Repr-Digest, Content-MD5 and X-Service-Checksum-* may come behind a body`,
  )
}

function refuseOthers(announced: readonly string[], came: IncomingHttpHeaders): void {
  const missing = announced.find((name) => came[name] === undefined)
  if (missing !== undefined)
    throw new Refusal('invalid_request', `The trailer field ${missing} was announced and did not come`)
  const other = Object.keys(came).find((name) => !announced.includes(name))
  if (other !== undefined)
    throw new Refusal(
      'invalid_request',
      `The trailer field ${other.slice(0, 80)} was not announced by the header Trailer: announce it, or leave it out`,
    )
}
