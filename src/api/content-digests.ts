/**
 * The standard headers by which a client claims what its body is: Content-MD5 [RFC 1864], Content-Digest and Repr-Digest [RFC 9530].
 *
 * Owns: their syntax and algorithms. Knows nothing of: how a digest is computed. Rules: a claim is verified or refused, never
 * ignored; of RFC 9530 the algorithms that its registry calls active are taken, sha-256 and sha-512. A request carries a whole
 * representation, so the content and the representation are the same bytes here.
 */
import type { IncomingHttpHeaders } from 'node:http'
import {
  type ClaimAlgorithm,
  type Claims,
  digestPattern,
  joinClaims,
  parseDigest,
} from '../content/checksums.ts'
import { Refusal } from '../base/refusal.ts'
import { headerText } from './header-text.ts'
import type { HeaderNote } from './route.ts'

/** Which algorithms each header may name. */
export const DIGEST_HEADERS: Readonly<Record<string, readonly ClaimAlgorithm[]>> = {
  'content-md5': ['MD5'],
  'content-digest': ['SHA256', 'SHA512'],
  'repr-digest': ['SHA256', 'SHA512'],
}
const ALGORITHM_OF: ReadonlyMap<string, ClaimAlgorithm> = new Map([
  ['sha-256', 'SHA256'],
  ['sha-512', 'SHA512'],
])
/** One member of a dictionary whose values are byte sequences; parameters mean nothing here. [RFC 9651 3.2, 3.3.5] */
const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):(?:\s*;[^,]*)?$/

/** Members in a list, each with parameters; padding may be left out. */
const DIGESTS = { pattern: digestsPattern() } as const

function digestsPattern(): string {
  const bare = (algorithm: ClaimAlgorithm): string =>
    digestPattern(algorithm)
      .replace(/^\^|\$$/g, '')
      .replace(/(=+)$/, '($1)?')
  const member = `(sha-256=:${bare('SHA256')}:|sha-512=:${bare('SHA512')}:)([ \\t]*;[^,]*)?`
  return `^${member}([ \\t]*,[ \\t]*${member})*$`
}

export const DIGEST_HEADER_NOTES: readonly HeaderNote[] = [
  {
    name: 'Content-MD5',
    description: 'base64 MD5 of the body to verify, as in RFC 1864; it is not kept',
    schema: { pattern: digestPattern('MD5') },
  },
  {
    name: 'Content-Digest',
    description: 'Digests of the body to verify, as in RFC 9530: sha-256 or sha-512, as in sha-256=:base64:',
    schema: DIGESTS,
  },
  { name: 'Repr-Digest', description: 'The same', schema: DIGESTS },
]

/** Throws Refusal checksum_malformed, checksum_unsupported; checksum_mismatch where two claims cannot both be true. */
export function readDigestHeaders(headers: IncomingHttpHeaders): Claims {
  let claims: Claims = new Map()
  for (const name of Object.keys(DIGEST_HEADERS)) {
    const text = headerText(headers, name)
    if (text === undefined) continue
    claims = joinClaims(claims, name === 'content-md5' ? md5(text) : dictionary(name, text))
  }
  return claims
}

function md5(text: string): Claims {
  return new Map([['MD5', parseDigest('MD5', text.trim())]])
}

function dictionary(name: string, text: string): Claims {
  let claims: Claims = new Map()
  for (const member of text.split(',')) {
    const [, key = '', base64 = ''] = MEMBER.exec(member.trim()) ?? []
    if (key === '')
      throw new Refusal(
        'checksum_malformed',
        `${name} contains '${member.trim().slice(0, 80)}', which is not written like sha-256=:base64:`,
      )
    claims = joinClaims(claims, new Map([[algorithmOf(name, key), digestOf(name, key, base64)]]))
  }
  return claims
}

function algorithmOf(name: string, key: string): ClaimAlgorithm {
  const algorithm = ALGORITHM_OF.get(key)
  if (algorithm !== undefined) return algorithm
  const known = [...ALGORITHM_OF.keys()].join(', ')
  throw new Refusal(
    'checksum_unsupported',
    `${name} names the algorithm '${key.slice(0, 40)}', which is not one of ${known}`,
  )
}

/** Padding may be left out. [RFC 9651 4.2.7] */
function digestOf(name: string, key: string, base64: string): Uint8Array {
  const bare = base64.replace(/=+$/, '')
  return parseDigest(algorithmOf(name, key), bare.padEnd(Math.ceil(bare.length / 4) * 4, '='))
}
