/**
 * The digests that clients may claim for a body, computed in one pass. [native: Upload request headers] [RFC 1864, 9530]
 *
 * Owns: algorithms, base64 claims, comparison. Knows nothing of: headers, where bytes come from.
 * Rules: CRC64NVME is always computed, so that every object has one digest of its whole plain text; CRCs are written
 * big-endian in base64, as S3 does; MD5 and SHA512 are verified and not kept.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { crc32c } from '@node-rs/crc32'
import { createCRC64 } from 'hash-wasm'
import { Refusal } from '../base/refusal.ts'
import type { ChecksumAlgorithm, Checksums } from '../state-machine/bodies/records.ts'

/** Length of each digest that is kept, in bytes. */
const DIGEST_BYTES = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
} as const satisfies Record<ChecksumAlgorithm, number>
/** Of each digest that a client may claim, in bytes. */
const CLAIM_BYTES = { ...DIGEST_BYTES, MD5: 16, SHA512: 64 } as const
export type ClaimAlgorithm = keyof typeof CLAIM_BYTES
export const KEPT_ALGORITHMS: readonly ChecksumAlgorithm[] = Object.keys(DIGEST_BYTES).filter(isAlgorithm)
const ALWAYS: ChecksumAlgorithm = 'CRC64NVME'
/** The NVMe polynomial in reflected form. */
const CRC64_NVME_POLYNOMIAL = '9a6c9329ac4bc9b5'
// One WebAssembly instance for the process. A body keeps its own 12 bytes of state and loads them for each piece.
const CRC64_NVME = await createCRC64(CRC64_NVME_POLYNOMIAL)

export type Claims = ReadonlyMap<ClaimAlgorithm, Uint8Array>

/** Claims that arrive behind the body. */
export interface TrailingClaims {
  /** Computed from the first byte on, because what is claimed is known after the last. */
  readonly algorithms: readonly ClaimAlgorithm[]
  /** Call it after the end of the body; of the `algorithms` only. Throws Refusal. */
  readonly read: () => Claims
}

/** Parses claims from headers; names of algorithms are case-insensitive. Throws Refusal checksum_unsupported, checksum_malformed. */
export function parseClaims(
  claims: Iterable<readonly [algorithm: string, base64: string]>,
): ReadonlyMap<ChecksumAlgorithm, Uint8Array> {
  const parsed = new Map<ChecksumAlgorithm, Uint8Array>()
  for (const [name, base64] of claims) {
    const algorithm = parseAlgorithm(name)
    parsed.set(algorithm, parseDigest(algorithm, base64))
  }
  return parsed
}

/** Padded base64 in its one spelling. Throws Refusal checksum_malformed. */
export function parseDigest(algorithm: ClaimAlgorithm, base64: string): Uint8Array {
  const digest = Buffer.from(base64, 'base64')
  const bytes = CLAIM_BYTES[algorithm]
  if (digest.length === bytes && digest.toString('base64') === base64) return digest
  throw new Refusal(
    'checksum_malformed',
    `Checksum ${algorithm} '${base64.slice(0, 128)}' is not the base64 of ${bytes} bytes`,
  )
}

/** What parseDigest takes, as JSON Schema says it: the bits behind the last byte are zero. */
export function digestPattern(algorithm: ClaimAlgorithm): string {
  const bytes = CLAIM_BYTES[algorithm]
  const whole = Math.floor((bytes * 4) / 3)
  const last = ['', '[AQgw]==', '[AEIMQUYcgkosw048]='][bytes % 3] ?? ''
  return `^[A-Za-z0-9+/]{${whole}}${last}$`
}

/** The claims of both. Throws Refusal checksum_mismatch where they cannot both be true. */
export function joinClaims(claims: Claims, others: Claims): Claims {
  for (const [algorithm, claim] of others) {
    const own = claims.get(algorithm)
    if (own === undefined || Buffer.from(own).equals(claim)) continue
    throw new Refusal('checksum_mismatch', `The request claims two different digests ${algorithm}: send one`)
  }
  return new Map([...claims, ...others])
}

/** Case-insensitive. Throws Refusal checksum_unsupported. */
export function parseAlgorithm(name: string): ChecksumAlgorithm {
  const algorithm = name.toUpperCase()
  if (isAlgorithm(algorithm)) return algorithm
  const known = KEPT_ALGORITHMS.join(', ')
  throw new Refusal(
    'checksum_unsupported',
    `Checksum algorithm '${name.slice(0, 40)}' is not one of ${known}`,
  )
}

const NO_TRAILERS: TrailingClaims = { algorithms: [], read: () => new Map() }

/** Digests by algorithm, raw bytes. */
type Digests = ReadonlyMap<ClaimAlgorithm, Buffer>
const NO_DIGESTS: Digests = new Map()

/** Digests of one body: the claimed ones, the additionally wanted ones, and CRC64NVME. */
export class BodyDigests {
  readonly #claims: Claims
  readonly #trailing: TrailingClaims
  readonly #running: ReadonlyMap<ClaimAlgorithm, RunningDigest>

  /** `elsewhere`: not computed here; `verified` is given them. */
  constructor(
    claims: Claims,
    wanted: readonly ClaimAlgorithm[] = [],
    trailing: TrailingClaims = NO_TRAILERS,
    elsewhere: readonly ClaimAlgorithm[] = [],
  ) {
    this.#claims = claims
    this.#trailing = trailing
    const algorithms = new Set<ClaimAlgorithm>([...claims.keys(), ...wanted, ...trailing.algorithms, ALWAYS])
    for (const algorithm of elsewhere) algorithms.delete(algorithm)
    this.#running = new Map([...algorithms].map((algorithm) => [algorithm, START[algorithm]()]))
  }

  update(piece: Uint8Array): void {
    for (const digest of this.#running.values()) digest.update(piece)
  }

  /**
   * base64 by algorithm, of those that are kept. `elsewhere`: every claimed digest that was not computed here. Throws Refusal
   * checksum_mismatch, and what `trailing` throws. Call once.
   */
  verified(elsewhere: Digests = NO_DIGESTS): Checksums {
    const claims = joinClaims(this.#claims, this.#trailing.read())
    const own = [...this.#running].map(([algorithm, running]) => [algorithm, running.digest()] as const)
    const digests = new Map([...own, ...elsewhere])
    const checksums: Partial<Record<ChecksumAlgorithm, string>> = {}
    for (const algorithm of claims.keys()) assert(digests.has(algorithm), 'every claimed digest is computed')
    for (const [algorithm, actual] of digests) {
      const claim = claims.get(algorithm)
      if (claim !== undefined) refuseFalseClaim(algorithm, claim, actual)
      if (isAlgorithm(algorithm)) checksums[algorithm] = actual.toString('base64')
    }
    return checksums
  }
}

/**
 * Verifies claims against known digests, without reading the bytes. Throws Refusal checksum_mismatch, and
 * checksum_unsupported for an algorithm without a known digest.
 */
export function verifyClaims(claims: ReadonlyMap<ChecksumAlgorithm, Uint8Array>, known: Checksums): void {
  for (const [algorithm, claim] of claims) {
    const digest = known[algorithm]
    if (digest === undefined) {
      const others = Object.keys(known).join(', ')
      throw new Refusal(
        'checksum_unsupported',
        `No ${algorithm} checksum of these bytes is known, only ${others}: claim one of those, or none`,
      )
    }
    refuseFalseClaim(algorithm, claim, Buffer.from(digest, 'base64'))
  }
}

interface RunningDigest {
  update(piece: Uint8Array): void
  digest(): Buffer
}

const START: Readonly<Record<ClaimAlgorithm, () => RunningDigest>> = {
  CRC32: () => running32((piece, crc) => crc32(piece, crc)),
  CRC32C: () => running32((piece, crc) => crc32c(piece, crc)),
  CRC64NVME: running64,
  SHA1: () => runningHash('sha1'),
  SHA256: () => runningHash('sha256'),
  SHA512: () => runningHash('sha512'),
  MD5: () => runningHash('md5'),
}

function running32(step: (piece: Uint8Array, crc: number) => number): RunningDigest {
  let crc = 0
  return {
    update: (piece) => {
      crc = step(piece, crc)
    },
    digest: () => {
      const bytes = Buffer.alloc(DIGEST_BYTES.CRC32)
      bytes.writeUInt32BE(crc)
      return bytes
    },
  }
}

function running64(): RunningDigest {
  let state = CRC64_NVME.init().save()
  return {
    update: (piece) => {
      state = CRC64_NVME.load(state).update(piece).save()
    },
    digest: () => Buffer.from(CRC64_NVME.load(state).digest('binary')),
  }
}

function runningHash(name: 'sha1' | 'sha256' | 'sha512' | 'md5'): RunningDigest {
  const hash = createHash(name)
  return { update: (piece) => void hash.update(piece), digest: () => hash.digest() }
}

function isAlgorithm(name: string): name is ChecksumAlgorithm {
  return Object.hasOwn(DIGEST_BYTES, name)
}

function refuseFalseClaim(algorithm: ClaimAlgorithm, claim: Uint8Array, actual: Buffer): void {
  if (actual.equals(claim)) return
  const claimed = Buffer.from(claim).toString('base64')
  const computed = actual.toString('base64')
  throw new Refusal(
    'checksum_mismatch',
    `The body has ${algorithm} '${computed}', not the claimed '${claimed}'`,
    {
      details: { algorithm, claimed, computed },
    },
  )
}
