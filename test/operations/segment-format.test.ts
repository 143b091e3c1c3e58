/**
 * The bytes of a segment of the audit log, and its index.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import t from 'tap'
import { makeSegment } from '../../src/operations/audit-segments/audit-segments.ts'
import {
  decodeSegment,
  SegmentBrokenError,
  sha256,
} from '../../src/operations/audit-segments/segment-format.ts'
import { nameOf, NameFilter } from '../../src/operations/audit-segments/segment-index.ts'
import { linkHash } from '../../src/state-machine/audit/audit-chain.ts'
import { type AuditLinkRecord, NO_LINK } from '../../src/state-machine/audit/records.ts'
import type { PlacedLink } from '../../src/store/reads/audit-rows.ts'
import { auditRow } from '../helpers/audit-disk.ts'

/** A change, a batch, a batch whose rows do not match their digest, and a link with a changed hash. */
function links(): readonly PlacedLink[] {
  const rows = [auditRow('b1'), auditRow('b2')].map((row) => JSON.stringify(row)).join('\n')
  const batch = (digest: string) =>
    JSON.stringify({ time: 2, nodeId: 'n1', spool: 's', first: 0, count: 2, digest })
  const made: Omit<AuditLinkRecord, 'hash'>[] = [
    { time: 1, text: JSON.stringify(auditRow('a', { time: 1 })), packed: null },
    { time: 2, text: batch(sha256(rows)), packed: zstdCompressSync(rows) },
    { time: 3, text: batch('other'), packed: zstdCompressSync(rows) },
    { time: 4, text: batch('none'), packed: Buffer.from('no zstd') },
    { time: 5, text: JSON.stringify(auditRow('z', { time: 5 })), packed: null },
  ]
  let before = NO_LINK
  return made.map((link, n) => {
    before = n === 4 ? 'f'.repeat(64) : linkHash(sha256, before, link.text)
    return { sequence: 7 + n, link: { ...link, hash: before } }
  })
}

t.test('a segment returns the links that it was made of, also wrong ones', async (t) => {
  const { segment, packed } = await makeSegment(NO_LINK, links())
  t.match(segment, { first: 7, next: 12, rows: 6, anchor: NO_LINK, hash: 'f'.repeat(64), firstTime: 1 })
  t.strictSame(segment.spools, [{ node: 'n1', spool: 's', time: 4 }])
  const { links: decoded } = await decodeSegment(packed)
  t.strictSame(
    decoded.map(({ sequence, time, text, hash }) => ({ sequence, time, text, hash })),
    links().map(({ sequence, link: { time, text, hash } }) => ({ sequence, time, text, hash })),
  )
  t.strictSame(
    decoded.map(({ rows }) => (typeof rows === 'string' ? rows.split('\n').length : rows)),
    [undefined, 2, 2, null, undefined],
  )
})

t.test('a segment that was changed, cut short or extended is invalid', async (t) => {
  const { packed } = await makeSegment(NO_LINK, links())
  const plain = zstdDecompressSync(packed)
  const broken: Record<string, Buffer> = {
    'no zstd': packed.subarray(1),
    'another magic': withByte(plain, 0),
    'another version': withByte(plain, 4),
    'cut short': zstdCompressSync(plain.subarray(0, plain.length - 1)),
    'with more behind it': zstdCompressSync(Buffer.concat([plain, Buffer.of(0)])),
  }
  for (const [name, bytes] of Object.entries(broken))
    await t.rejects(decodeSegment(bytes), SegmentBrokenError, name)
})

function withByte(plain: Buffer, at: number): Buffer {
  const changed = Buffer.from(plain)
  changed[at] = (changed[at] ?? 0) ^ 1
  return zstdCompressSync(changed)
}

t.test('a segment of the first version is read by every later one', async (t) => {
  const { anchor, links: decoded } = await decodeSegment(Buffer.from(FIRST_VERSION, 'base64'))
  t.equal(anchor, NO_LINK)
  t.match(decoded, [
    { sequence: 7, time: 1, text: /"requestId":"a"/, rows: undefined },
    { sequence: 8, time: 2, rows: /"requestId":"b1".*\n.*"requestId":"b2"/s },
    { sequence: 9, time: 3 },
    { sequence: 10, time: 4, rows: null },
    { sequence: 11, time: 5, hash: 'f'.repeat(64) },
  ])
})

t.test('the filter of names', async (t) => {
  t.test('contains every added name', async () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 300 }), (texts) => {
        const names = texts.map((text) => nameOf('key', text))
        return new NameFilter(NameFilter.of(new Set(names))).hasAll(names)
      }),
    )
  })

  t.test('excludes nearly all others', async (t) => {
    const names = Array.from({ length: 1_000 }, (_, n) => nameOf('key', `k${n}`))
    const filter = new NameFilter(NameFilter.of(new Set(names)))
    const others = Array.from({ length: 10_000 }, (_, n) => nameOf('key', `other${n}`))
    const taken = others.filter((name) => filter.hasAll([name])).length
    t.ok(taken < 150, `${taken} of 10,000`)
  })

  t.test('hashes names as in earlier versions', async (t) => {
    const bits = NameFilter.of(new Set([nameOf('tenant', 'acme'), nameOf('key', 'a/b')]))
    t.equal(Buffer.from(bits).toString('hex'), FIRST_NAMES)
  })
})

/** Written by the first version, from `links()`. */
const FIRST_VERSION =
  'KLUv/QBgnRkAJm+ySpCcbQ4q+h1V4cCEVwRTNYWbrIRi/r8CsaAAUPIj+pVFUz8R61eLttC/hZZdZCO/JEdjazFV4e' +
  '/auhgRtYc+p1zQKdLFcFwx1qwMigCIALAAvg1/+ERGSUe3JiLd7dFn2w//p3Wc61W/v/5U6MO7r+mHr6NWN3V1//BT' +
  'Gt80vvvmvTTedW+NVdooRWvflPbo83r6fvhLRBQefXbzuo768PuqOahIXUM9+u5uewrrd3/4Wqrtqfvot2/64aePPp' +
  'vrXMcdNPzhiL6OavtTVcFyhmWcnHNOhindinABo21ky1pp2h6Y5qiSJDmWbLljbWYp1nbmeK5r+eh3rqFatrvxXjuH' +
  '292Hzx99394vJ0nknGPc16Zdsx/+6Gp2u/woZnuMJKLv5rjuP7W7GuoGax5/+OaMnIkz8hwf/TenVzje7uaphjW71w' +
  '9FkUSfxz3t/EM25+6Ww1rqp3sf/qP/IdDni130dVDOMD5UJIL0yqBOhOGVporuxtWNMT5dV1wZQAAXmEEGWzg2SV9m' +
  'mlQbRrQS/HLM+BLD6eroggwjUwYk8UlBhGkHijNNNqCwIZCCxPa1hRXLsxyUQ5kSGQxBJ00iZMmCkp07Vj9gVsBjnK' +
  'xwKe4FjpbpRIAhVUlvssiRATCJAT2xoQlp8LCcgQ9rXt+5nLMsRuqMqmgCyXIGPnuetjNVyVWn+hR3Z2mq6cjuaqmD' +
  'UiwDu6GpEueG7XzqZ7s5OWfga3e7uJzzjYCnLcUEQQXWlSB/i3wnbCJXkVUDFk+JCTQZOCBrjoUsMU5VekoAUWBAS6' +
  'SixeMRdUErGr5cIKvW+2BGiZFOklLMhJcWF1u6BE3BQh44rGkR9NVV5MuRKTxUJqoVIJoZVBUkxIZ2YF5cB3AinriM' +
  'yEs8lFF7vOxbDrYJoQLdOvMkww8jDDqcROkB4ifWsIGjCouPH1cEMhKhXpGaLilLuVgmIHACEbIi80QJ2a4yIEvK4S' +
  'tEG458W/o8zEP0t1rGhioxjbxsKqhiCikDgvh0mJ7I9tYVQB0SlSAKjBGKmim+RuQC02AwFbrjZfQKcYpKyZIQe8jl' +
  'Mlw/HNSPrr9WRs4630b/EoAi'
const FIRST_NAMES = '8a0180804a420280'
