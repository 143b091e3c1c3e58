/**
 * The bytes of packs and of their index, as the first version wrote them. A change of a format fails here.
 */
import t from 'tap'
import {
  decodePlace,
  decodeTotals,
  encodePlace,
  encodeTotals,
  nameKey,
  packKey,
} from '../../cluster/blobs/packs/index-rows.ts'
import {
  decodePackHead,
  decodeRecordHeader,
  encodeEnd,
  encodePackHead,
  encodeRecordHeader,
  recordBytes,
} from '../../cluster/blobs/packs/pack-record.ts'
import { sampleBlob, sha256 } from './blob-samples.ts'

const FRAME = { pack: 3, salt: Uint8Array.from({ length: 16 }, (_, at) => at) }

t.test('a pack', async (t) => {
  const head = encodePackHead(FRAME)
  t.equal(sha256(head), 'ed250f380f973f18bcbbd6c6f4cac430d3b96af26572beb608597a822695c437')
  t.strictSame(decodePackHead(3, head), FRAME)
  const { id, birth, size, checksum } = sampleBlob(1)
  const position = { offset: 2048, batch: 2, batchOffset: 1536 }
  const record = { ...position, name: { id, birth }, content: { size, checksum } }
  const header = encodeRecordHeader(FRAME, record)
  t.equal(sha256(header), 'a87bd6eb25f796d03a616268ae46d08dd28e9af88df71992bb171315f4515595')
  t.strictSame(decodeRecordHeader(FRAME, 2048, header), record)
  const end = encodeEnd(FRAME, { offset: 4096, batch: 3 })
  t.equal(sha256(end), '7561da21fd2a4147622bdd66c64d7923ecc8a94253cf02bd121808f9629bf4e9')
  t.strictSame(decodeRecordHeader(FRAME, 4096, end), {
    offset: 4096,
    batch: 3,
    batchOffset: 4096,
    name: null,
  })
  t.strictSame([0, 256, 257, 1000].map(recordBytes), [512, 512, 1024, 1536])
})

t.test('rows of the index', async (t) => {
  const key = nameKey('0123456789abcdef.b-1')
  const place = { pack: 7, offset: 2 ** 33, size: 1000 }
  const row = encodePlace(key, place)
  t.equal(row.toString('hex'), '070000000000000002000000e803000000000000a6b08079')
  t.strictSame(decodePlace(key, row), place)
  t.equal(decodePlace(nameKey('0123456789abcdef.b-2'), row), null, 'a row belongs to its key')
  t.equal(packKey(255), 'p000000ff')
  const totals = { indexedTo: 4096, records: 3, bytes: 1536, xor: 0xdeadbeef, isDamaged: true }
  const sums = encodeTotals(packKey(7), totals)
  t.equal(sums.toString('hex'), '001000000000000003000000000000000006000000000000efbeadde01000000afca06e2')
  t.strictSame(decodeTotals(packKey(7), sums), totals)
  t.equal(decodeTotals(packKey(8), sums), null)
})
