/**
 * Format 2: it opens to the sealed bytes, each span separately; it is used only if it pays; no key seals two texts.
 */
import { createHash, randomBytes } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { compress, headerBytesOf, sealCompressed } from '../../src/content/compressed-chunk.ts'
import {
  bindingOf,
  FRAME_BYTES,
  frameCountOf,
  SealBrokenError,
  sealFrame,
  TAG_BYTES,
} from '../../src/content/frame-cipher.ts'
import { openFrames } from '../../src/content/frame-layout.ts'
import {
  compressionOf,
  layoutBytesOf,
  layoutOf,
  sealChunk,
  sealedSizeOf,
  sealPlain,
} from '../../src/content/sealing.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import { collected } from '../helpers/async.ts'
import { inPieces } from '../helpers/content-world.ts'

const KEYS = TenantKeys.fromBytes(Buffer.alloc(32, 1), Buffer.alloc(32, 3))
const OTHER_KEYS = TenantKeys.fromBytes(Buffer.alloc(32, 2), Buffer.alloc(32, 3))

/** Lines that share most of their words. */
function prose(size: number, seed = 0): Buffer {
  const line = (at: number): string =>
    `${createHash('sha256').update(`${seed}/${at}`).digest('hex').slice(0, 16)} was stored on three machines\n`
  const lines = Array.from({ length: Math.ceil(size / 40) }, (_, at) => line(at))
  return Buffer.from(lines.join('')).subarray(0, size)
}

function sealed(plain: Buffer, keys = KEYS) {
  const id = keys.chunkIdOf(plain)
  const bytes = sealChunk(keys, { id, plain }, 'zstd').sealed
  return { keys, id, size: plain.length, sealedSize: bytes.length, bytes }
}

async function open(
  chunk: ReturnType<typeof sealed>,
  span = { first: 0, end: frameCountOf(chunk.size) },
): Promise<Buffer> {
  const layout = layoutOf(chunk, chunk.bytes.subarray(0, layoutBytesOf(chunk)))
  const part = chunk.bytes.subarray(layout.offsetOf(span.first), layout.offsetOf(span.end))
  return Buffer.concat(await collected(openFrames(inPieces(part, 9_999), layout, span)))
}

t.test('sealChunk with zstd', async (t) => {
  t.test('returns the bytes for sizes at every frame boundary, and is smaller', async (t) => {
    for (const size of [1024, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES, 200_001]) {
      const plain = prose(size)
      const chunk = sealed(plain)
      t.equal(compressionOf(chunk), 'zstd', `${size} bytes are compressed`)
      t.ok(chunk.sealedSize <= sealedSizeOf(size) * 0.9)
      t.ok((await open(chunk)).equals(plain), `${size} bytes come back`)
    }
  })

  t.test('opens any span of frames separately, also over a frame that does not shrink', async (t) => {
    const plain = prose(5 * FRAME_BYTES + 100)
    randomBytes(FRAME_BYTES).copy(plain, 2 * FRAME_BYTES)
    const chunk = sealed(plain)
    t.equal(compressionOf(chunk), 'zstd')
    for (let first = 0; first < 6; first += 1) {
      for (let end = first + 1; end <= 6; end += 1) {
        const expected = plain.subarray(first * FRAME_BYTES, end * FRAME_BYTES)
        t.ok((await open(chunk, { first, end })).equals(expected))
      }
    }
  })

  t.test(
    'is format 1 if format 2 does not save a tenth, for a tiny chunk, and without compression',
    async (t) => {
      const half = prose(2 * FRAME_BYTES)
      // The first sample contains only prose.
      const baited = randomBytes(8 * FRAME_BYTES)
      for (const at of [0, 2, 4, 6]) prose(8 * 1024).copy(baited, at * FRAME_BYTES)
      const bodies = [randomBytes(3 * FRAME_BYTES), prose(1023), baited]
      for (const plain of bodies) {
        const chunk = sealed(plain)
        t.equal(compressionOf(chunk), 'none')
        t.ok(chunk.bytes.equals(sealPlain(KEYS, chunk.id, plain)))
      }
      const off = sealChunk(KEYS, { id: KEYS.chunkIdOf(half), plain: half }, 'none')
      t.equal(off.sealed.length, sealedSizeOf(half.length))
      t.equal(off.checksum, createHash('sha256').update(off.sealed).digest('hex'))
    },
  )

  t.test('gives the same bytes for the same content, and other bytes to another tenant', async (t) => {
    const plain = prose(100_000)
    t.ok(sealed(plain).bytes.equals(sealed(plain).bytes))
    t.notOk(sealed(plain).bytes.equals(sealed(plain, OTHER_KEYS).bytes))
  })

  t.test('returns any mixture of repetitive and random bytes', async () => {
    const piece = fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 90_000 }))
    const property = fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 4 }), async (pieces) => {
      const plain = Buffer.concat(
        pieces.map(([dense, size], i) => (dense ? randomBytes(size) : prose(size, i))),
      )
      return (await open(sealed(plain))).equals(plain)
    })
    await fc.assert(property, { numRuns: 40, seed: 3 })
  })
})

t.test('a compressed chunk', async (t) => {
  t.test('detects every single flipped bit, also in its header', async (t) => {
    const plain = prose(1500)
    const chunk = sealed(plain)
    for (let bit = 0; bit < chunk.sealedSize * 8; bit += 1) {
      const bytes = Buffer.from(chunk.bytes)
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await open({ ...chunk, bytes }).then(
        () => t.fail(`bit ${bit} was not detected`),
        (error: unknown) =>
          error instanceof SealBrokenError || t.fail(`bit ${bit} failed with another error`),
      )
    }
  })

  t.test('refuses frames that are swapped, cut, moved, or belong to another chunk', async (t) => {
    const plain = prose(3 * FRAME_BYTES)
    const chunk = sealed(plain)
    const other = sealed(prose(3 * FRAME_BYTES, 7))
    const layout = layoutOf(chunk, chunk.bytes.subarray(0, layoutBytesOf(chunk)))
    const cut = [0, 1, 2, 3].map((frame) => layout.offsetOf(frame)) as [number, number, number, number]
    const [head, one, two, three] = [
      chunk.bytes.subarray(0, cut[0]),
      chunk.bytes.subarray(cut[0], cut[1]),
      chunk.bytes.subarray(cut[1], cut[2]),
      chunk.bytes.subarray(cut[2], cut[3]),
    ]
    const bad: [string, Partial<typeof chunk>][] = [
      ['frames swapped', { bytes: Buffer.concat([head, two, one, three]) }],
      ['cut by a byte', { bytes: chunk.bytes.subarray(0, -1) }],
      ['cut in the header', { bytes: chunk.bytes.subarray(0, 20) }],
      ['under the id of another chunk', { id: other.id }],
      ['under the keys of another tenant', { keys: OTHER_KEYS }],
      [
        'the header of another chunk',
        { bytes: Buffer.concat([other.bytes.subarray(0, cut[0]), one, two, three]) },
      ],
      ['another sealed size', { sealedSize: chunk.sealedSize - 1 }],
      ['another plain size', { size: chunk.size - 1 }],
    ]
    for (const [what, change] of bad) await t.rejects(open({ ...chunk, ...change }), SealBrokenError, what)
  })

  t.test(
    'never opens to more or fewer bytes than its frame has, even if sealed so with the right keys',
    async (t) => {
      // Sealed with the right keys, as a faulty writer could do it: only the expansion is wrong.
      const id = 'ab'.repeat(32)
      const size = 1000
      const bombs = [Buffer.alloc(50_000_000), Buffer.alloc(size - 1), Buffer.alloc(size + 1)].map((plain) =>
        zstdCompressSync(plain),
      )
      for (const text of [...bombs, Buffer.from('no zstd at all')]) {
        const table = Buffer.alloc(2)
        table.writeUInt16BE(text.length - 1)
        const bytes = sealCompressed(KEYS, id, { plainSize: size, texts: [text], table })
        const chunk = { keys: KEYS, id, size, sealedSize: bytes.length, bytes }
        await t.rejects(open(chunk), SealBrokenError)
        // It stops at the bound and expands nothing after it.
        if (text === bombs[0]) await t.rejects(open(chunk), { cause: { code: 'ERR_BUFFER_TOO_LARGE' } })
      }
    },
  )
})

t.test('the key of a compressed chunk', async (t) => {
  const plain = prose(3 * FRAME_BYTES)
  const id = KEYS.chunkIdOf(plain)
  const frames = compress(plain, sealedSizeOf(plain.length))
  if (frames === null) throw new Error('prose compresses')

  const saltIn = (bytes: Buffer): string => bytes.subarray(1, 33).toString('hex')

  t.test('differs if zstd produces other bytes for the same content', async (t) => {
    const level = { params: { [constants.ZSTD_c_compressionLevel]: 19 } }
    const texts = frames.texts.map((_, i) =>
      zstdCompressSync(plain.subarray(i * FRAME_BYTES, (i + 1) * FRAME_BYTES), level),
    )
    const table = Buffer.alloc(frames.table.length)
    texts.forEach((text, i) => table.writeUInt16BE(text.length - 1, 2 * i))
    const mine = sealCompressed(KEYS, id, frames)
    const other = sealCompressed(KEYS, id, { ...frames, texts, table })
    t.not(saltIn(mine), saltIn(other))
    const chunk = { keys: KEYS, id, size: plain.length, sealedSize: other.length, bytes: other }
    t.ok((await open(chunk)).equals(plain), 'both open to the content')
    // A reused nonce under the same key would show here: equal beginnings of two texts would have equal cipher texts.
    const at = headerBytesOf(plain.length)
    t.ok(
      frames.texts[0]?.subarray(0, 4).join() === texts[0]?.subarray(0, 4).join(),
      'the texts have equal beginnings',
    )
    t.notOk(mine.subarray(at, at + 4).equals(other.subarray(at, at + 4)))
  })

  t.test('differs if the same texts are cut into other frames, or the plain size differs', async (t) => {
    const texts = [Buffer.from('ab'), Buffer.from('c')]
    const moved = [Buffer.from('a'), Buffer.from('bc')]
    const table = (lengths: readonly number[]): Buffer => Buffer.from(lengths.flatMap((n) => [0, n - 1]))
    const one = sealCompressed(KEYS, id, { plainSize: FRAME_BYTES + 1, texts, table: table([2, 1]) })
    const two = sealCompressed(KEYS, id, { plainSize: FRAME_BYTES + 1, texts: moved, table: table([1, 2]) })
    const three = sealCompressed(KEYS, id, { plainSize: FRAME_BYTES + 2, texts, table: table([2, 1]) })
    t.equal(new Set([one, two, three].map(saltIn)).size, 3)
  })

  t.test('cannot be derived from the content without the keys of the tenant', async (t) => {
    const chunk = sealed(plain)
    const guess = createHash('sha256')
    for (const part of [bindingOf('hf-chunk-2', plain.length), frames.table, ...frames.texts])
      guess.update(part)
    t.not(saltIn(chunk.bytes), guess.digest('hex'))
    t.not(saltIn(chunk.bytes), saltIn(sealed(plain, OTHER_KEYS).bytes))
  })

  t.test('has a fixed form, so that an older chunk still opens', async (t) => {
    // Written by the first version of format 2, the text by zstd 1.5: a change here makes stored chunks unreadable.
    const text = Buffer.from('28b52ffd602c008d000050686f6c64666173742f3201001f550b12', 'hex')
    const about = { keys: KEYS, id: 'ab'.repeat(32), size: 300 }
    const table = Buffer.of(0, text.length - 1)
    const bytes = sealCompressed(KEYS, about.id, { plainSize: about.size, texts: [text], table })
    t.equal(
      bytes.toString('hex'),
      '02060a82f07c4b01be34871fd1272b0605e0142cde5c9c719051fe5ec2597d0063001a7fa66e2a187fdb789a08a6b61e80f04c61bb7af7a0ed8fbd73b9ded8170f03cb80a7dcd7be20d66a328bc2',
    )
    t.equal((await open({ ...about, sealedSize: bytes.length, bytes })).toString(), 'holdfast/2'.repeat(30))
  })

  t.test('authenticates the header with every frame', async (t) => {
    // The right header, and a frame sealed without it: right key, right nonce, right text.
    const text = frames.texts[0] ?? Buffer.alloc(0)
    const bytes = sealCompressed(KEYS, id, frames)
    const seal = {
      key: KEYS.compressedChunkKey(id, bytes.subarray(1, 33)),
      binding: bindingOf('hf-chunk-2', plain.length),
    }
    sealFrame(seal, 0, text, { target: bytes, offset: headerBytesOf(plain.length) })
    t.equal(
      bytes.length,
      frames.texts.reduce((sum, one) => sum + one.length + TAG_BYTES, headerBytesOf(plain.length)),
    )
    const chunk = { keys: KEYS, id, size: plain.length, sealedSize: bytes.length, bytes }
    await t.rejects(open(chunk), SealBrokenError)
  })
})
