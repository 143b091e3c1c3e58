/** Rows as a backup has them, in files of any number of rows. */
import { BackupRows } from '../../src/backup/restore-into/backup-rows.ts'
import { comesBefore } from '../../src/state-machine/base/key-order.ts'
import { frameRow } from '../../src/store/rows/row-block.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'

/** `reads`: names of the files that were read, in order. */
export function rowsOf(
  rows: ReadonlyMap<string, object>,
  perFile: number,
): { readonly rows: BackupRows; readonly reads: string[] } {
  const sorted = [...rows].sort(([one], [other]) => (comesBefore(one, other) ? -1 : 1))
  const files: Buffer[] = []
  for (let at = 0; at < sorted.length; at += perFile) {
    const framed = sorted.slice(at, at + perFile).map(([key, row]) => {
      const name = keyBytes(key)
      return frameRow(name, encodeRow(name, row))
    })
    files.push(Buffer.concat(framed))
  }
  const reads: string[] = []
  const state = files.map((_, n) => ({ name: String(n), size: 0, sha256: '' }))
  const rowsIn = async ({ name }: { readonly name: string }): Promise<Buffer> => {
    reads.push(name)
    return files[Number(name)] ?? Buffer.alloc(0)
  }
  return { rows: new BackupRows({ manifest: { state }, rowsIn }), reads }
}

export async function all<T>(source: AsyncGenerator<T>): Promise<T[]> {
  const found: T[] = []
  for await (const one of source) found.push(one)
  return found
}
