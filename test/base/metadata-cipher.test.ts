/** Sealing of metadata: the bytes are those of HMAC-SHA256 and AES-256-CTR, whichever way they are computed, and nothing else opens. */
import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import t from 'tap'
import { cipherOf, MetadataCipher, SEALED_OVERHEAD } from '../../cluster/base/metadata-cipher.ts'

const KEY = Buffer.alloc(32, 7)
const CONTEXT = Buffer.from('a place')
/** Around the blocks of the cipher, of the hash, and where the way of computing changes. */
const SIZES = [0, 1, 15, 16, 17, 63, 64, 65, 500, 6_143, 6_144, 6_145, 100_000]

const cipher = new MetadataCipher(KEY, 'rows')
const derived = (part: string): Buffer =>
  Buffer.from(hkdfSync('sha256', KEY, '', `holdfast/1/metadata/rows/${part}`, 32))

function expected(context: Buffer, plain: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(context.length)
  const iv = createHmac('sha256', derived('authenticate'))
    .update(Buffer.of(1))
    .update(length)
    .update(context)
    .update(plain)
    .digest()
    .subarray(0, 16)
  const counter = Buffer.from(iv)
  counter[12] = (counter[12] ?? 0) & 0x7f
  return Buffer.concat([iv, createCipheriv('aes-256-ctr', derived('encrypt'), counter).update(plain)])
}

t.test('a metadata cipher', async (t) => {
  t.test('seals to the bytes of the format at every size', async (t) => {
    for (const size of SIZES) {
      const plain = randomBytes(size)
      const sealed = cipher.seal(CONTEXT, plain)
      t.same(sealed, expected(CONTEXT, plain), `${size} bytes`)
      t.equal(sealed.length, size + SEALED_OVERHEAD)
      t.same(cipher.open(CONTEXT, sealed), plain)
    }
  })

  t.test('opens nothing that was changed, cut, moved or sealed for another use', async (t) => {
    for (const size of [20, 7_000]) {
      const sealed = cipher.seal(CONTEXT, randomBytes(size))
      for (let at = 0; at < sealed.length; at += 1 + (at >> 4)) {
        const flipped = Buffer.from(sealed)
        flipped[at] = (flipped[at] ?? 0) ^ 1
        if (cipher.open(CONTEXT, flipped) !== null) t.fail(`byte ${at} of ${sealed.length} may change`)
      }
      t.equal(cipher.open(CONTEXT, sealed.subarray(0, -1)), null)
      t.equal(cipher.open(CONTEXT, sealed.subarray(0, SEALED_OVERHEAD - 1)), null)
      t.equal(cipher.open(Buffer.from('another place'), sealed), null)
      t.equal(new MetadataCipher(KEY, 'log').open(CONTEXT, sealed), null)
      t.equal(new MetadataCipher(Buffer.alloc(32, 8), 'rows').open(CONTEXT, sealed), null)
    }
  })

  t.test('separates context and bytes: what moves from one to the other is another text', async (t) => {
    const one = cipher.seal(Buffer.from('ab'), Buffer.from('c')).subarray(0, SEALED_OVERHEAD)
    const other = cipher.seal(Buffer.from('a'), Buffer.from('bc')).subarray(0, SEALED_OVERHEAD)
    t.notSame(one, other)
  })

  t.test('names the same text always the same, and unlike anything sealed', async (t) => {
    const name = cipher.nameOf(CONTEXT)
    t.same(cipher.nameOf(CONTEXT), name)
    t.notSame(cipher.nameOf(Buffer.from('another')), name)
    t.notSame(cipher.seal(CONTEXT, Buffer.alloc(0)), name)
  })

  t.test('is not there without a key', async (t) => {
    t.equal(cipherOf(null, 'rows'), null)
    t.equal(cipherOf(undefined, 'rows'), null)
    t.notSame(cipherOf(KEY, 'rows')?.id, cipherOf(Buffer.alloc(32), 'rows')?.id)
  })
  t.end()
})
