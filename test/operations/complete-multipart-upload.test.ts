/**
 * completeMultipartUpload at its limits: ten thousand parts in one request.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { JSON_BODY_BYTES_MAX } from '../../src/api/json-body.ts'
import { routeOf } from '../helpers/operations.ts'
import { checkPartList, fingerprintOfParts, namedParts } from '../../src/operations/multipart/named-parts.ts'
import { PARTS_MAX } from '../../src/state-machine/objects/limits.ts'
import type { PartRecord } from '../../src/state-machine/bodies/records.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { uploadPageOf } from '../../src/state-machine/bodies/upload-parts.ts'

const tagOf = (partNumber: number): string => `${partNumber.toString(16).padStart(32, '0')}-1`

function recordOf(partNumber: number): PartRecord {
  const about = { partId: `id-${partNumber}`, size: 5, etag: tagOf(partNumber), lastModified: 0 }
  return { partNumber, ...about, checksums: { CRC64NVME: 'AAAAAAAAAAA=' }, body: { kind: 'empty' } }
}

const PARTS = Array.from({ length: 2500 }, (_, n) => recordOf(2 * n + 1))

t.test('checkPartList', async (t) => {
  const one = { partNumber: 1, etag: tagOf(1) }
  t.strictSame(checkPartList([{ partNumber: 1, etag: `"${tagOf(1)}"` }]), [one])
  t.throws(() => checkPartList([]), { code: 'invalid_request' })
  t.throws(() => checkPartList([one, one]), { code: 'invalid_part_order' })
  for (const etag of [
    '',
    'abc',
    `${tagOf(1)} `,
    tagOf(1).replace('-1', '-2'),
    tagOf(10).toUpperCase(),
    `""${tagOf(1)}""`,
  ])
    t.throws(() => checkPartList([{ partNumber: 1, etag }]), { code: 'invalid_part' }, etag)
})

t.test('fingerprintOfParts distinguishes lists by number and by tag, and is short', async (t) => {
  const list = (...numbers: number[]) => numbers.map((n) => ({ partNumber: n, etag: tagOf(1) }))
  const all = [list(1, 2), list(1, 3), list(1), [...list(1), { partNumber: 2, etag: tagOf(2) }]]
  t.equal(new Set(all.map(fingerprintOfParts)).size, all.length)
  t.match(fingerprintOfParts(list(1, 2)), /^[0-9a-f]{64}$/)
})

t.test(
  'namedParts goes through the pages of an upload once, and stops at the first part that differs',
  async (t) => {
    const memory = await MemoryServices.start(t)
    const { services } = memory
    for (let page = 0; page <= uploadPageOf(5000); page++) {
      const parts = PARTS.filter(({ partNumber }) => uploadPageOf(partNumber) === page)
      await memory.writeRow(bodyKeys.uploadPage('bucket', 'mpu', page), { parts })
    }
    const db = services.state.usable?.db
    assert(db !== undefined)
    const reads = t.capture(db, 'iterator', db.iterator.bind(db))
    /** The first row that each page of parts was read from. */
    let from: readonly string[] = []
    const rowBehind = (partNumber: number): string =>
      bodyKeys.uploadPage('bucket', 'mpu', uploadPageOf(partNumber + 1))
    const look = async (numbers: readonly number[], etag?: string) => {
      reads()
      const parts = numbers.map((partNumber) => ({ partNumber, etag: etag ?? tagOf(partNumber) }))
      const named = await namedParts(services, 'bucket', { uploadId: 'mpu', parts })
      from = reads().map(({ args: [range] }) => String(range?.gte))
      return named
    }
    t.strictSame(await look([1, 3, 1999, 2001, 4999]), [1, 3, 1999, 2001, 4999].map(recordOf))
    t.strictSame(from, [0, 1999, 3999].map(rowBehind))
    t.strictSame(await look([5]), [recordOf(5)])
    t.strictSame(from, [rowBehind(0)], 'nothing is read after the last named part')
    t.match(await look([1, 2, 4999]), { code: 'invalid_part', message: /Part 2 was never uploaded/ })
    t.strictSame(from, [rowBehind(0)])
    t.match(await look([4999, 5001]), { code: 'invalid_part', message: /Part 5001 was never uploaded/ })
    t.match(await look([3], tagOf(1)), { code: 'invalid_part', message: /has the etag/ })
  },
)

t.test(
  'ten thousand parts fit into one command, and their list into a body with space to spare',
  async (t) => {
    const parts = Array.from({ length: PARTS_MAX }, (_, n) => ({ partNumber: n + 1, etag: tagOf(n + 1) }))
    const command = encodeCommand({
      type: 'completeUpload',
      tenantId: 'acme',
      bucket: 'b'.repeat(63),
      key: 'k'.repeat(1024),
      uploadId: `mpu_${'0'.repeat(26)}`,
      parts,
      fingerprint: fingerprintOfParts(parts),
      etag: tagOf(1),
      checksums: { CRC64NVME: 'AAAAAAAAAAA=' },
      precondition: { ifMatch: null, ifNoneMatch: null },
    })
    t.ok(command.length < DEFAULT_NODE_LIMITS.batchBytesMax, `${command.length} bytes`)
    const { body } = routeOf('completeMultipartUpload')
    const text = Buffer.byteLength(JSON.stringify({ parts }, null, 8))
    t.ok(body.kind === 'json' && text < body.bytesMax, `${text} bytes`)
    t.ok(text > JSON_BODY_BYTES_MAX, 'more than the limit of other bodies')
  },
)
