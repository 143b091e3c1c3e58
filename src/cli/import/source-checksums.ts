/**
 * The checksums that another store keeps of an object, and the digests by which received bytes are held against them. [AWS S3 API reference: Checking object integrity]
 *
 * Owns: which checksums say something of all bytes. Rules: checksums of checksums (`…-3`, COMPOSITE) say nothing without the sizes of the parts, and
 * an etag is an MD5 only where the store says nothing better and does not encrypt with a key of its own. The state of the digests can be put down
 * after each part, so that a resumed object is verified from its first byte.
 */
import { createCRC32, createCRC64, createMD5, createSHA1, createSHA256, type IHasher } from 'hash-wasm'
import { CRC64_NVME_POLYNOMIAL } from '../objects/digests.ts'
import { unquoted } from '../../s3-client/object-listing.ts'

const MAKERS = {
  CRC64NVME: () => createCRC64(CRC64_NVME_POLYNOMIAL),
  CRC32: () => createCRC32(),
  CRC32C: () => createCRC32(0x82f63b78),
  SHA1: () => createSHA1(),
  SHA256: () => createSHA256(),
  MD5: () => createMD5(),
} as const satisfies Readonly<Record<string, () => Promise<IHasher>>>

export type Algorithm = keyof typeof MAKERS
const KEPT: readonly Algorithm[] = ['CRC64NVME', 'CRC32', 'CRC32C', 'SHA1', 'SHA256']
/** Computed of every object, because the target answers it. */
const OF_TARGET: Algorithm = 'CRC64NVME'

/** Base64, by algorithm. */
export type Claims = Readonly<Partial<Record<Algorithm, string>>>

/** `isEtagMd5` false: the etags of this store are no MD5s. */
export function claimsOf(headers: Readonly<Record<string, string>>, isEtagMd5: boolean): Claims {
  const claims: Partial<Record<Algorithm, string>> = {}
  const isComposite = headers['x-amz-checksum-type']?.toUpperCase() === 'COMPOSITE'
  for (const algorithm of isComposite ? [] : KEPT) {
    const value = headers[`x-amz-checksum-${algorithm.toLowerCase()}`]?.trim()
    if (value !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(value)) claims[algorithm] = value
  }
  const etag = unquoted(headers['etag'] ?? '')
  const isMd5 = isEtagMd5 && /^[0-9a-f]{32}$/i.test(etag) && !hasOwnKey(headers)
  return Object.keys(claims).length === 0 && isMd5
    ? { MD5: Buffer.from(etag, 'hex').toString('base64') }
    : claims
}

/** With KMS or a key of the client the etag is no MD5 of the bytes. */
function hasOwnKey(headers: Readonly<Record<string, string>>): boolean {
  const algorithm = headers['x-amz-server-side-encryption'] ?? 'AES256'
  return algorithm !== 'AES256' || 'x-amz-server-side-encryption-customer-algorithm' in headers
}

/** Base64, by algorithm. */
export type SavedDigests = Readonly<Record<string, string>>

export class SourceDigests {
  readonly #hashers: ReadonlyMap<Algorithm, IHasher>
  readonly #claims: Claims

  private constructor(claims: Claims, hashers: ReadonlyMap<Algorithm, IHasher>) {
    this.#claims = claims
    this.#hashers = hashers
  }

  /** `saved`: the state after the bytes that are not read again. Throws when another version of the program saved it. */
  static async of(claims: Claims, saved: SavedDigests | null = null): Promise<SourceDigests> {
    const hashers = new Map<Algorithm, IHasher>()
    for (const algorithm of new Set([OF_TARGET, ...namesOf(claims)])) {
      const hasher = await MAKERS[algorithm]()
      if (saved === null) hasher.init()
      else hasher.load(Buffer.from(saved[algorithm] ?? '', 'base64'))
      hashers.set(algorithm, hasher)
    }
    return new SourceDigests(claims, hashers)
  }

  update(piece: Uint8Array): void {
    for (const hasher of this.#hashers.values()) hasher.update(piece)
  }

  saved(): SavedDigests {
    return Object.fromEntries(
      [...this.#hashers].map(([algorithm, hasher]) => [
        algorithm,
        Buffer.from(hasher.save()).toString('base64'),
      ]),
    )
  }

  /** Call once, after the last byte. */
  end(): Compared {
    const values = new Map(
      [...this.#hashers].map(([algorithm, hasher]) => [
        algorithm,
        Buffer.from(hasher.digest('binary')).toString('base64'),
      ]),
    )
    const wrong = namesOf(this.#claims).find((algorithm) => values.get(algorithm) !== this.#claims[algorithm])
    return {
      crc64nvme: values.get(OF_TARGET) ?? '',
      verified: namesOf(this.#claims),
      mismatch:
        wrong === undefined
          ? null
          : `${wrong} ${values.get(wrong) ?? ''}, but the source keeps ${this.#claims[wrong] ?? ''}`,
    }
  }
}

export interface Compared {
  /** Base64. */
  readonly crc64nvme: string
  /** Empty: the source keeps no checksum of all bytes. */
  readonly verified: readonly Algorithm[]
  /** Null: what the source keeps is what was received. */
  readonly mismatch: string | null
}

function namesOf(claims: Claims): readonly Algorithm[] {
  return KEPT.concat('MD5').filter((algorithm) => claims[algorithm] !== undefined)
}
