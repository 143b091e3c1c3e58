/** Keys of chunks are those of HKDF-SHA256, however they are derived: what is stored opens with no others. */
import { hkdfSync } from 'node:crypto'
import t from 'tap'
import fc from 'fast-check'
import { TenantKeys } from '../../src/content/tenant-keys.ts'

t.test('chunkKey is HKDF-SHA256 without a salt, of the data key and the id', (t) => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(
    fc.property(bytes, fc.string({ maxLength: 80 }), (dataKey, id) => {
      const keys = TenantKeys.fromBytes(dataKey, new Uint8Array(32))
      const expected = Buffer.from(hkdfSync('sha256', dataKey, '', `holdfast/1/chunk/${id}`, 32))
      // The second look is another way through the code.
      return keys.chunkKey(id).export().equals(expected) && keys.chunkKey(id).export().equals(expected)
    }),
  )
  t.end()
})

t.test('compressedChunkKey is HKDF-SHA256 with its salt', (t) => {
  const [dataKey, salt] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const keys = TenantKeys.fromBytes(dataKey, dataKey)
  const expected = Buffer.from(hkdfSync('sha256', dataKey, salt, 'holdfast/2/chunk/c1', 32))
  t.same(keys.compressedChunkKey('c1', salt).export(), expected)
  t.end()
})
