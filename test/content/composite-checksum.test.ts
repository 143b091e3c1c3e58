/**
 * Digests over the digests of parts: made as S3 makes them, and read as S3 clients write them.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import {
  compositeChecksum,
  digestOfComposite,
  parseDigestOfParts,
} from '../../src/content/composite-checksum.ts'
import { KEPT_ALGORITHMS } from '../../src/content/checksums.ts'

const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()
function crc(bytes: Uint8Array | string): Buffer {
  const digest = Buffer.alloc(4)
  digest.writeUInt32BE(crc32(bytes))
  return digest
}

t.test(
  'compositeChecksum is the digest over the raw digests, in their order, and their number',
  async (t) => {
    const texts = ['one', 'two', 'three']
    const parts = texts.map((text) => ({
      checksums: { SHA256: sha256(text).toString('base64'), CRC32: crc(text).toString('base64') },
    }))
    const whole = sha256(Buffer.concat(texts.map(sha256))).toString('base64')
    t.strictSame(compositeChecksum('SHA256', parts), { algorithm: 'SHA256', checksum: `${whole}-3` })
    const crcs = crc(Buffer.concat(texts.map(crc))).toString('base64')
    t.strictSame(compositeChecksum('CRC32', parts), { algorithm: 'CRC32', checksum: `${crcs}-3` })
    t.not(compositeChecksum('SHA256', parts.toReversed())?.checksum, `${whole}-3`)
    t.strictSame(digestOfComposite({ algorithm: 'SHA256', checksum: `${whole}-3` }), { SHA256: whole })
    t.equal(compositeChecksum('SHA1', parts), null, 'a part has none')
  },
)

t.test('parseDigestOfParts', async (t) => {
  for (const algorithm of KEPT_ALGORITHMS) {
    const bytes = { CRC32: 4, CRC32C: 4, CRC64NVME: 8, SHA1: 20, SHA256: 32 }[algorithm]
    const digest = Buffer.alloc(bytes, 7)
    const text = digest.toString('base64')
    t.strictSame(parseDigestOfParts(algorithm, text, 3), { digest, isComposite: false })
    t.strictSame(parseDigestOfParts(algorithm, `${text}-3`, 3), { digest, isComposite: true })
    t.throws(() => parseDigestOfParts(algorithm, `${text}-2`, 3), { code: 'checksum_mismatch' })
    for (const bad of [
      '',
      '-3',
      `${text}-`,
      `${text}-x`,
      `${text}-3-3`,
      `${text}--3`,
      `x${text}`,
      `${text}-123456`,
    ])
      t.throws(() => parseDigestOfParts(algorithm, bad, 3), { code: 'checksum_malformed' }, bad)
  }
})
