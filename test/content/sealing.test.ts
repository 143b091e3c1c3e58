/**
 * The sealed chunk: exact sizes, determinism, and detection of every change.
 */
import fc from 'fast-check'
import t from 'tap'
import { FRAME_BYTES, frameCountOf, SealBrokenError, TAG_BYTES } from '../../src/content/frame-cipher.ts'
import { openFrames } from '../../src/content/frame-layout.ts'
import { layoutOf, sealedSizeOf, sealPlain } from '../../src/content/sealing.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import { collected } from '../helpers/async.ts'
import { inPieces, patternBytes } from '../helpers/content-world.ts'

const KEYS = TenantKeys.fromBytes(Buffer.alloc(32, 1), Buffer.alloc(32, 3))
const OTHER_KEYS = TenantKeys.fromBytes(Buffer.alloc(32, 2), Buffer.alloc(32, 3))
const ID = 'ab'.repeat(32)
const SEALED_FRAME = FRAME_BYTES + TAG_BYTES
const NO_HEAD = Buffer.alloc(0)

const sealed1 = (plain: Uint8Array, keys = KEYS): Buffer => sealPlain(keys, ID, plain)
const layout1 = (size: number, keys = KEYS) =>
  layoutOf({ keys, id: ID, size, sealedSize: sealedSizeOf(size) }, NO_HEAD)

async function openAll(
  sealed: Buffer,
  plainSize: number,
  options: { keys?: TenantKeys; pieceBytes?: number } = {},
) {
  const span = { first: 0, end: frameCountOf(plainSize) }
  const source = inPieces(sealed, options.pieceBytes ?? 10_000)
  return Buffer.concat(await collected(openFrames(source, layout1(plainSize, options.keys), span)))
}

t.test('sealPlain', async (t) => {
  t.test('returns the bytes for sizes at every frame boundary, in pieces of any size', async (t) => {
    for (const size of [1, 15, 16, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES, 200_001]) {
      const plain = patternBytes(size)
      const sealed = sealed1(plain)
      t.equal(sealed.length, sealedSizeOf(size))
      for (const pieceBytes of [977, SEALED_FRAME, sealed.length]) {
        t.ok((await openAll(sealed, size, { pieceBytes })).equals(plain), `${size} bytes in ${pieceBytes}`)
      }
    }
  })

  t.test('gives the same bytes every time, and other bytes under another key', async (t) => {
    const plain = patternBytes(100_000)
    t.ok(sealed1(plain).equals(sealed1(plain)))
    t.notOk(sealed1(plain).equals(sealed1(plain, OTHER_KEYS)))
  })

  t.test('has a fixed form, so that an older chunk still opens', async (t) => {
    // Written by the first version; a change here makes every stored chunk unreadable.
    const plain = Buffer.from('holdfast')
    t.equal(KEYS.chunkIdOf(plain), '7598086be65353837e4fccdd70fdc83275efe88412811650e8b95f0d42d9ca4d')
    t.equal(sealed1(plain).toString('hex'), '46038ec55101271c1339958e2381dbb72123f6da7a652983')
  })
})

t.test('openFrames', async (t) => {
  t.test('opens any span of frames separately', async (t) => {
    const size = 5 * FRAME_BYTES + 100
    const plain = patternBytes(size)
    const sealed = sealed1(plain)
    for (let first = 0; first < 6; first += 1) {
      for (let end = first + 1; end <= 6; end += 1) {
        const layout = layout1(size)
        const part = sealed.subarray(layout.offsetOf(first), layout.offsetOf(end))
        const opened = await collected(openFrames(inPieces(part, 50_000), layout, { first, end }))
        t.ok(Buffer.concat(opened).equals(plain.subarray(first * FRAME_BYTES, end * FRAME_BYTES)))
      }
    }
  })

  t.test('detects every single flipped bit', async (t) => {
    const plain = patternBytes(40)
    const sealed = sealed1(plain)
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const damaged = Buffer.from(sealed)
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await openAll(damaged, plain.length).then(
        () => t.fail(`bit ${bit} was not detected`),
        (error: unknown) =>
          error instanceof SealBrokenError || t.fail(`bit ${bit} failed with another error`),
      )
    }
  })

  t.test('refuses frames that are swapped, cut, added, or of another chunk', async (t) => {
    const size = 3 * FRAME_BYTES
    const sealed = sealed1(patternBytes(size))
    const frames = [0, 1, 2].map((frame) => sealed.subarray(frame * SEALED_FRAME, (frame + 1) * SEALED_FRAME))
    const [first, second, third] = frames as [Buffer, Buffer, Buffer]
    const bad: [string, Buffer, number][] = [
      ['frames swapped', Buffer.concat([second, first, third]), size],
      ['a frame doubled', Buffer.concat([first, first, third]), size],
      ['the last frame missing', Buffer.concat([first, second]), size],
      [
        'the last frame missing, and the size changed to match',
        Buffer.concat([first, second]),
        2 * FRAME_BYTES,
      ],
      ['lengthened by a frame of its own', Buffer.concat([sealed, third]), 4 * FRAME_BYTES],
      ['cut within a tag', sealed.subarray(0, -1), size],
      ['empty', Buffer.alloc(0), size],
      ['another chunk under another key', sealed1(patternBytes(size), OTHER_KEYS), size],
      ['another plain size', sealed1(patternBytes(size + 1)), size],
    ]
    for (const [what, bytes, plainSize] of bad)
      await t.rejects(openAll(bytes, plainSize), SealBrokenError, what)
  })

  t.test('yields only whole, right frames before it detects damage, for any damage', async () => {
    const size = 4 * FRAME_BYTES - 5
    const plain = patternBytes(size)
    const sealed = sealed1(plain)
    const property = fc.asyncProperty(
      fc.nat(sealed.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.constantFrom(30_000, 150_000, sealed.length),
      async (at, flip, pieceBytes) => {
        const damaged = Buffer.from(sealed)
        damaged[at] = (damaged[at] ?? 0) ^ flip
        const given: Buffer[] = []
        try {
          const span = { first: 0, end: 4 }
          for await (const frame of openFrames(inPieces(damaged, pieceBytes), layout1(size), span))
            given.push(frame)
        } catch (error) {
          if (!(error instanceof SealBrokenError)) throw error
        }
        const bytes = Buffer.concat(given)
        const wholeFramesBefore = Math.floor(at / SEALED_FRAME) * FRAME_BYTES
        return bytes.length === wholeFramesBefore && bytes.equals(plain.subarray(0, wholeFramesBefore))
      },
    )
    await fc.assert(property, { numRuns: 60, seed: 1 })
  })
})
