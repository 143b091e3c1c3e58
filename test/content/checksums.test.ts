/**
 * Digests: published check values, incremental equals whole, and every kind of wrong claim.
 */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { BodyDigests, KEPT_ALGORITHMS, parseClaims, type Claims } from '../../src/content/checksums.ts'
import type { ChecksumAlgorithm } from '../../src/state-machine/bodies/records.ts'

const ALGORITHMS = KEPT_ALGORITHMS

/** Hex. The CRCs of '123456789' are the check values of their catalogue entries; SHA from FIPS 180. */
const VECTORS: readonly [text: string, expected: Readonly<Record<ChecksumAlgorithm, string>>][] = [
  [
    '123456789',
    {
      CRC32: 'cbf43926',
      CRC32C: 'e3069283',
      CRC64NVME: 'ae8b14860a799888',
      SHA1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
      SHA256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
    },
  ],
  [
    'abc',
    {
      CRC32: '352441c2',
      CRC32C: '364b3fb7',
      CRC64NVME: '05e5cabb3fc1faeb',
      SHA1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
      SHA256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    },
  ],
  [
    '',
    {
      CRC32: '00000000',
      CRC32C: '00000000',
      CRC64NVME: '0000000000000000',
      SHA1: 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
      SHA256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    },
  ],
]

const base64Of = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

function digest(pieces: readonly Uint8Array[], claims: Claims) {
  const digests = new BodyDigests(claims)
  for (const piece of pieces) digests.update(piece)
  return digests.verified()
}

/** All five at once, each made without BodyDigests or bit by bit. */
function everyClaim(body: Buffer): Claims {
  return new Map<ChecksumAlgorithm, Uint8Array>([
    ['CRC32', bitwise(body, { bits: 32, polynomial: 0xedb88320n })],
    ['CRC32C', bitwise(body, { bits: 32, polynomial: 0x82f63b78n })],
    ['CRC64NVME', bitwise(body, { bits: 64, polynomial: 0x9a6c9329ac4bc9b5n })],
    ['SHA1', createHash('sha1').update(body).digest()],
    ['SHA256', createHash('sha256').update(body).digest()],
  ])
}

/** The definition of a reflected CRC with all bits set at the start and inverted at the end, one bit at a time. */
function bitwise(body: Buffer, { bits, polynomial }: { bits: number; polynomial: bigint }): Buffer {
  const all = (1n << BigInt(bits)) - 1n
  let crc = all
  for (const byte of body) {
    crc ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1n ? (crc >> 1n) ^ polynomial : crc >> 1n
  }
  return Buffer.from((crc ^ all).toString(16).padStart(bits / 4, '0'), 'hex')
}

t.test('BodyDigests', async (t) => {
  t.test('agrees with the published vectors', async (t) => {
    for (const [text, expected] of VECTORS) {
      const entries = ALGORITHMS.map((algorithm) => [algorithm, base64Of(expected[algorithm])] as const)
      t.strictSame(
        digest([Buffer.from(text)], parseClaims(entries)),
        Object.fromEntries(entries),
        `'${text}'`,
      )
    }
  })

  t.test('agrees with the vectors of the standards for longer messages', async (t) => {
    const ascending = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
    const fips448 = Buffer.from('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')
    const million = Buffer.alloc(1_000_000, 'a')
    /** RFC 3720 B.4, NVM Express base specification (64-bit CRC examples), FIPS 180-2 appendices. */
    const vectors: readonly (readonly [ChecksumAlgorithm, Buffer, string])[] = [
      ['CRC32C', Buffer.alloc(32), '8a9136aa'],
      ['CRC32C', Buffer.alloc(32, 0xff), '62a8ab43'],
      ['CRC32C', ascending, '46dd794e'],
      ['CRC64NVME', Buffer.alloc(4096), '6482d367eb22b64e'],
      ['CRC64NVME', Buffer.alloc(4096, 0xff), 'c0ddba7302eca3ac'],
      ['SHA1', fips448, '84983e441c3bd26ebaae4aa1f95129e5e54670f1'],
      ['SHA1', million, '34aa973cd4c4daa4f61eeb2bdbad27316534016f'],
      ['SHA256', fips448, '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1'],
      ['SHA256', million, 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
    ]
    for (const [algorithm, message, hex] of vectors) {
      const claims = parseClaims([[algorithm, base64Of(hex)]])
      t.equal(digest([message], claims)[algorithm], base64Of(hex), `${algorithm} of ${message.length} bytes`)
    }
  })

  t.test('gives all five for a body that is cut in two at any position', async (t) => {
    const body = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 37) % 251))
    const whole = Object.entries(digest([body], everyClaim(body)))
    for (let cut = 0; cut <= body.length; cut += 1) {
      const given = digest([body.subarray(0, cut), body.subarray(cut)], everyClaim(body))
      t.strictSame(Object.entries(given), whole, `cut at ${cut}`)
    }
  })

  t.test('computes CRC64NVME always, and otherwise only what was claimed', async (t) => {
    t.strictSame(Object.keys(digest([Buffer.from('x')], new Map())), ['CRC64NVME'])
  })

  t.test('gives the same for every cut of the body, and two concurrent bodies do not mix', async () => {
    const property = fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 }), (pieces) => {
      const whole = Buffer.concat(pieces)
      const [one, other] = [new BodyDigests(new Map()), new BodyDigests(new Map())]
      for (const piece of pieces) {
        one.update(piece)
        other.update(Buffer.from('between'))
      }
      return one.verified().CRC64NVME === digest([whole], new Map()).CRC64NVME
    })
    fc.assert(property, { numRuns: 100, seed: 2 })
  })

  t.test('refuses with checksum_mismatch when any one claim is wrong in any bit', async (t) => {
    const expected = VECTORS[0]?.[1]
    for (const algorithm of ALGORITHMS) {
      const right = Buffer.from(expected?.[algorithm] ?? '', 'hex')
      for (let bit = 0; bit < right.length * 8; bit += 1) {
        const wrong = Buffer.from(right)
        wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        t.throws(() => digest([Buffer.from('123456789')], new Map([[algorithm, wrong]])), {
          code: 'checksum_mismatch',
        })
      }
    }
  })
})

t.test('parseClaims', async (t) => {
  t.test('accepts the algorithm in upper and lower case', async (t) => {
    t.strictSame([...parseClaims([['crc32c', '4waSgw==']]).keys()], ['CRC32C'])
  })

  t.test(
    'refuses with checksum_malformed a text that is not the base64 of exactly the right length',
    async (t) => {
      const bad = [
        '',
        '4waSgw',
        '4waSgw=',
        '4waSgw==\n',
        '4waSgx==',
        '4waSg+8AAA==',
        'e3069283',
        '!!!!!!==',
        '4waSgw==4waSgw==',
      ]
      for (const claim of bad) {
        t.throws(
          () => parseClaims([['CRC32C', claim]]),
          { code: 'checksum_malformed' },
          JSON.stringify(claim),
        )
      }
      const sha = base64Of('00'.repeat(32))
      t.throws(() => parseClaims([['SHA1', sha]]), { code: 'checksum_malformed' })
      t.throws(() => parseClaims([['SHA256', sha.replaceAll('A', '-')]]), { code: 'checksum_malformed' })
    },
  )

  t.test('refuses with checksum_unsupported an unknown algorithm', async (t) => {
    for (const name of ['MD5', 'SHA512', '', 'toString', '__proto__', 'CRC64']) {
      t.throws(() => parseClaims([[name, 'AAAA']]), { code: 'checksum_unsupported' }, name)
    }
  })
})
