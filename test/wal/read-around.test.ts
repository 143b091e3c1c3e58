/**
 * A sector that the disk cannot read reads as damage, and everything around it as it is.
 */
import t from 'tap'
import { readAround } from '../../cluster/wal/read-around.ts'

const DISK = Buffer.from(Array.from({ length: 5000 }, (_, position) => position % 251))

function failing(code: string): Error {
  return Object.assign(new Error(`${code}: i/o error, read`), { code })
}

/** Fails for every read that touches a byte of `bad`. */
function diskWith(bad: readonly number[], code = 'EIO') {
  return (into: Uint8Array, position: number): number => {
    const end = Math.min(position + into.length, DISK.length)
    if (bad.some((byte) => byte >= position && byte < end)) throw failing(code)
    return DISK.copy(into, 0, position, end)
  }
}

t.test('readAround', async (t) => {
  t.test('returns every byte but those of the sectors that cannot be read', async (t) => {
    for (const bad of [[], [0], [511, 512], [1700], [4999], [3, 2000, 4700]]) {
      const bytes = Buffer.alloc(DISK.length)
      t.equal(readAround(bytes, diskWith(bad)), DISK.length)
      const sectors = new Set(bad.map((byte) => Math.floor(byte / 512)))
      for (const [position, byte] of bytes.entries()) {
        const expected = sectors.has(Math.floor(position / 512)) ? 0xee : (DISK[position] as number)
        if (byte !== expected) t.fail(`byte ${position}`, { bad })
      }
    }
  })

  t.test('ends where the file ends', async (t) => {
    t.equal(readAround(Buffer.alloc(9000), diskWith([])), DISK.length)
  })

  t.test('throws errors other than an unreadable sector', async (t) => {
    t.throws(() => readAround(Buffer.alloc(9), diskWith([1], 'EACCES')), { code: 'EACCES' })
  })
})
