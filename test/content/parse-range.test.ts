/**
 * The Range header: a table of forms, and the property that a range equals the result of Buffer.subarray.
 */
import fc from 'fast-check'
import t from 'tap'
import { parseRange, requestedRange } from '../../src/content/parse-range.ts'

t.test('parseRange', async (t) => {
  t.test('[RFC 9110 14.1] reads the forms of a single range', async (t) => {
    const table: [header: string | undefined, size: number, expected: ReturnType<typeof parseRange>][] = [
      ['bytes=0-0', 10, { start: 0, end: 1 }],
      ['bytes=2-5', 10, { start: 2, end: 6 }],
      ['bytes=2-', 10, { start: 2, end: 10 }],
      ['bytes=9-', 10, { start: 9, end: 10 }],
      ['bytes=0-999', 10, { start: 0, end: 10 }],
      ['bytes=-3', 10, { start: 7, end: 10 }],
      ['bytes=-99', 10, { start: 0, end: 10 }],
      ['BYTES=1-1', 10, { start: 1, end: 2 }],
      ['bytes= 1-1 ', 10, { start: 1, end: 2 }],
      ['bytes=,1-1,', 10, { start: 1, end: 2 }],
      [`bytes=0-${'9'.repeat(400)}`, 10, { start: 0, end: 10 }],
      ['bytes=10-', 10, 'unsatisfiable'],
      ['bytes=10-20', 10, 'unsatisfiable'],
      ['bytes=-0', 10, 'unsatisfiable'],
      ['bytes=0-', 0, 'unsatisfiable'],
      [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
      ['bytes=-5', 0, null],
    ]
    for (const [header, size, expected] of table)
      t.strictSame(parseRange(header, size), expected, `${header} of ${size}`)
  })

  t.test('[RFC 9110 14.2] ignores a malformed header, another unit, and several ranges', async (t) => {
    const ignored = [
      undefined,
      '',
      'bytes',
      'bytes=',
      'bytes=-',
      'bytes=,',
      'bytes=5-2',
      'bytes=a-b',
      'bytes=1-2-3',
    ]
    const others = [
      'bytes=0x1-2',
      'bytes=+1-2',
      'bytes=1.0-2',
      'bytes=0-1,3-4',
      'lines=0-1',
      'bytes 0-1',
      '0-1',
      'bytes=--1',
      'bytes=1 - 2',
    ]
    for (const header of [...ignored, ...others]) t.equal(parseRange(header, 10), null, String(header))
  })

  t.test('selects what Buffer.subarray selects', async () => {
    const bytes = Buffer.from(Array.from({ length: 64 }, (_, at) => at))
    const property = fc.property(fc.nat(64), fc.nat(80), fc.nat(80), (size, first, last) => {
      const body = bytes.subarray(0, size)
      const cut = (header: string) => {
        const range = parseRange(header, size)
        return range === 'unsatisfiable' ? Buffer.alloc(0) : body.subarray(range?.start, range?.end)
      }
      const suffix = last === 0 ? Buffer.alloc(0) : body.subarray(-last)
      return (
        (last < first || cut(`bytes=${first}-${last}`).equals(body.subarray(first, last + 1))) &&
        cut(`bytes=${first}-`).equals(body.subarray(first)) &&
        cut(`bytes=-${last}`).equals(suffix)
      )
    })
    fc.assert(property, { numRuns: 500, seed: 3 })
  })

  t.test('survives any text', async () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(1000), (text, size) => {
        const range = parseRange(`bytes=${text}`, size)
        return (
          range === null ||
          range === 'unsatisfiable' ||
          (0 <= range.start && range.start < range.end && range.end <= size)
        )
      }),
      { numRuns: 500, seed: 4 },
    )
  })
})

t.test('requestedRange refuses with range_not_satisfiable and the size', async (t) => {
  t.throws(() => requestedRange('bytes=10-', 10), {
    code: 'range_not_satisfiable',
    extras: { headers: { 'content-range': 'bytes */10' } },
  })
  t.strictSame(requestedRange('bytes=1-2', 10), { start: 1, end: 3 })
  t.equal(requestedRange(undefined, 10), null)
})
