/**
 * Memory that is released explicitly: only whole buffers, and never before the reader is done.
 */
import t from 'tap'
import { releaseBytes, releasing } from '../../src/content/spent-bytes.ts'
import { streamOf } from '../blobs/blob-samples.ts'

t.test('releaseBytes', async (t) => {
  t.test('releases bytes that fill their buffer', async (t) => {
    const bytes = Buffer.alloc(100_000, 1)
    const view = bytes.subarray(10, 20)
    releaseBytes(bytes)
    t.strictSame([bytes.length, view.length, bytes.buffer.byteLength], [0, 0, 0])
    releaseBytes(bytes)
  })

  t.test('does not release a part of a buffer, or memory that threads share', async (t) => {
    const whole = Buffer.alloc(100, 1)
    for (const part of [whole.subarray(0, 99), whole.subarray(1), whole.subarray(0, 0)]) releaseBytes(part)
    t.equal(whole.length, 100)
    const shared = Buffer.from(new SharedArrayBuffer(100))
    releaseBytes(shared)
    t.equal(shared.length, 100)
    const pooled = Buffer.from('pooled')
    releaseBytes(pooled)
    t.equal(pooled.toString(), 'pooled')
  })
})

t.test('releasing', async (t) => {
  t.test('releases a piece when the next one is requested, and the last when the reader stops', async (t) => {
    const pieces = [1, 2, 3].map((value) => Buffer.alloc(1000, value))
    const source = releasing(streamOf(...pieces))
    await source.next()
    t.strictSame(
      pieces.map(({ length }) => length),
      [1000, 1000, 1000],
    )
    t.equal((await source.next()).value?.at(0), 2)
    t.strictSame(
      pieces.map(({ length }) => length),
      [0, 1000, 1000],
    )
    await source.return(undefined)
    t.strictSame(
      pieces.map(({ length }) => length),
      [0, 0, 1000],
    )
  })
})
