/**
 * The five digests that clients may claim for a body, computed in one pass. [native: Upload request headers]
 *
 * Owns: algorithms, base64 claims, comparison. Knows nothing of: headers, where bytes come from.
 * Rules: CRC64NVME is always computed, so that every object has one digest of its whole plain text; CRCs are written
 * big-endian in base64, as S3 does.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { crc32c } from '@node-rs/crc32'
import { createCRC64 } from 'hash-wasm'
import { Refusal } from '../base/refusal.ts'
import type { ChecksumAlgorithm, Checksums } from '../state-machine/bodies/records.ts'

/** Length of each digest in bytes. */
export const DIGEST_BYTES = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
} as const satisfies Record<ChecksumAlgorithm, number>
const ALWAYS: ChecksumAlgorithm = 'CRC64NVME'
/** The NVMe polynomial in reflected form. */
const CRC64_NVME_POLYNOMIAL = '9a6c9329ac4bc9b5'
// One WebAssembly instance for the process. A body keeps its own 12 bytes of state and loads them for each piece.
const CRC64_NVME = await createCRC64(CRC64_NVME_POLYNOMIAL)

export type Claims = ReadonlyMap<ChecksumAlgorithm, Uint8Array>

/** Parses claims from headers; names of algorithms are case-insensitive. Throws Refusal checksum_unsupported, checksum_malformed. */
export function parseClaims(claims: Iterable<readonly [algorithm: string, base64: string]>): Claims {
  const parsed = new Map<ChecksumAlgorithm, Uint8Array>()
  for (const [name, base64] of claims) {
    const algorithm = parseAlgorithm(name)
    const digest = Buffer.from(base64, 'base64')
    if (digest.length !== DIGEST_BYTES[algorithm] || digest.toString('base64') !== base64) {
      const bytes = DIGEST_BYTES[algorithm]
      throw new Refusal(
        'checksum_malformed',
        `Checksum ${algorithm} '${base64}' is not the base64 of ${bytes} bytes`,
      )
    }
    parsed.set(algorithm, digest)
  }
  return parsed
}

/** Case-insensitive. Throws Refusal checksum_unsupported. */
export function parseAlgorithm(name: string): ChecksumAlgorithm {
  const algorithm = name.toUpperCase()
  if (isAlgorithm(algorithm)) return algorithm
  const known = Object.keys(DIGEST_BYTES).join(', ')
  throw new Refusal(
    'checksum_unsupported',
    `Checksum algorithm '${name.slice(0, 40)}' is not one of ${known}`,
  )
}

/** Digests of one body: the claimed ones, the additionally wanted ones, and CRC64NVME. */
export class BodyDigests {
  readonly #claims: Claims
  readonly #running: ReadonlyMap<ChecksumAlgorithm, RunningDigest>

  constructor(claims: Claims, wanted: readonly ChecksumAlgorithm[] = []) {
    this.#claims = claims
    const algorithms = new Set<ChecksumAlgorithm>([...claims.keys(), ...wanted, ALWAYS])
    this.#running = new Map([...algorithms].map((algorithm) => [algorithm, START[algorithm]()]))
  }

  update(piece: Uint8Array): void {
    for (const digest of this.#running.values()) digest.update(piece)
  }

  /** base64 by algorithm. Throws Refusal checksum_mismatch. Call once. */
  verified(): Checksums {
    const checksums: Partial<Record<ChecksumAlgorithm, string>> = {}
    for (const [algorithm, running] of this.#running) {
      const actual = running.digest()
      const claim = this.#claims.get(algorithm)
      if (claim !== undefined) refuseFalseClaim(algorithm, claim, actual)
      checksums[algorithm] = actual.toString('base64')
    }
    return checksums
  }
}

/**
 * Verifies claims against known digests, without reading the bytes. Throws Refusal checksum_mismatch, and
 * checksum_unsupported for an algorithm without a known digest.
 */
export function verifyClaims(claims: Claims, known: Checksums): void {
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

const START: Readonly<Record<ChecksumAlgorithm, () => RunningDigest>> = {
  CRC32: () => running32((piece, crc) => crc32(piece, crc)),
  CRC32C: () => running32((piece, crc) => crc32c(piece, crc)),
  CRC64NVME: running64,
  SHA1: () => runningHash('sha1'),
  SHA256: () => runningHash('sha256'),
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

function runningHash(name: 'sha1' | 'sha256'): RunningDigest {
  const hash = createHash(name)
  return { update: (piece) => void hash.update(piece), digest: () => hash.digest() }
}

function isAlgorithm(name: string): name is ChecksumAlgorithm {
  return Object.hasOwn(DIGEST_BYTES, name)
}

function refuseFalseClaim(algorithm: ChecksumAlgorithm, claim: Uint8Array, actual: Buffer): void {
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
