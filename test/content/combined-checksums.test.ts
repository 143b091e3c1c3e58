/**
 * CRCs combined from those of parts equal the CRCs of the bytes.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { BodyDigests } from '../../src/content/checksums.ts'
import { combinedChecksums, type DigestedPart } from '../../src/content/combined-checksums.ts'

const ALL = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA256'] as const

function digested(bytes: Uint8Array): DigestedPart {
  const digests = new BodyDigests(new Map(), ALL)
  digests.update(bytes)
  return { size: bytes.length, checksums: digests.verified() }
}

t.test('combinedChecksums', async (t) => {
  await t.test('gives the CRCs of the concatenated bytes, for every cut', async (t) => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 8 }), (pieces) => {
        const { SHA256: _, ...crcs } = digested(Buffer.concat(pieces)).checksums
        assert.deepEqual(combinedChecksums(pieces.map(digested)), crcs)
      }),
      { numRuns: 300, seed: 20_261_122 },
    )
    t.equal(
      combinedChecksums([digested(Buffer.from('1234')), digested(Buffer.from('56789'))]).CRC32,
      'y/Q5Jg==',
    )
  })

  await t.test('leaves out an algorithm that is missing in one part', async (t) => {
    const one = digested(Buffer.from('one'))
    const { CRC32: _, ...fewer } = digested(Buffer.from('two')).checksums
    const combined = combinedChecksums([one, { size: 3, checksums: fewer }])
    t.strictSame(Object.keys(combined).sort(), ['CRC32C', 'CRC64NVME'])
    t.strictSame(combinedChecksums([]), {})
  })

  await t.test('supports sizes beyond 32 bits', async (t) => {
    const last = digested(Buffer.alloc(1000))
    // Zeros, doubled from a digest of real bytes up to the size of the largest object.
    let zeros = digested(Buffer.alloc(1 << 16))
    while (zeros.size < 2 ** 45) zeros = joined([zeros, zeros])
    const large = joined([zeros, last, zeros, last])
    t.equal(large.size, 2 * (2 ** 45 + 1000))
    t.strictSame(large.checksums, zerosDigested(large.size))
  })
})

function joined(parts: readonly DigestedPart[]): DigestedPart {
  return { size: parts.reduce((size, part) => size + part.size, 0), checksums: combinedChecksums(parts) }
}

/** By another arithmetic: whole numbers, not reflected. The register starts and ends inverted. */
function zerosDigested(bytes: number): Record<string, string> {
  const crcOf = (bits: number, polynomial: bigint): string => {
    const ones = (1n << BigInt(bits)) - 1n
    const modulus = (1n << BigInt(bits)) | polynomial
    const rest = times(ones, xToThe(8n * BigInt(bytes), modulus), modulus)
    const reflected = BigInt(`0b${Array.from(rest.toString(2).padStart(bits, '0')).reverse().join('')}`)
    const hex = (reflected ^ ones).toString(16).padStart(bits / 4, '0')
    return Buffer.from(hex, 'hex').toString('base64')
  }
  return {
    CRC32: crcOf(32, 0x04c11db7n),
    CRC32C: crcOf(32, 0x1edc6f41n),
    CRC64NVME: crcOf(64, 0xad93d23594c93659n),
  }
}

function xToThe(exponent: bigint, modulus: bigint): bigint {
  if (exponent === 0n) return 1n
  const half = xToThe(exponent / 2n, modulus)
  const square = times(half, half, modulus)
  return exponent % 2n === 0n ? square : times(square, 2n, modulus)
}

/** Product of polynomials over GF(2). */
function times(a: bigint, b: bigint, modulus: bigint): bigint {
  const degree = BigInt(modulus.toString(2).length - 1)
  let result = 0n
  for (let bit = degree; bit >= 0n; bit--) {
    result <<= 1n
    if ((result >> degree) & 1n) result ^= modulus
    if ((a >> bit) & 1n) result ^= b
  }
  return result
}
