/**
 * Where a store keeps the bytes of a blob, found without the store, and a bit that flips there.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HEADER_BYTES } from '../../cluster/blobs/base/blob-header.ts'
import type { BlobName } from '../../cluster/base/types.ts'

export async function flipBit(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+')
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at)
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 4), 0, 1, at)
  await file.close()
}

/** Where the bytes of a blob are, found by the name in the header before them. */
export async function placeOf(
  directory: string,
  { id, birth }: BlobName,
): Promise<{ path: string; at: number }> {
  const file = join(directory, id.slice(0, 2), `${id}.${birth}`)
  const packs = (await readdir(join(directory, 'packs'))).map((name) => join(directory, 'packs', name))
  for (const path of [file, ...packs.toReversed()]) {
    const bytes = await open(path).then(
      async (handle) => handle.readFile().finally(() => handle.close()),
      () => Buffer.alloc(0),
    )
    for (let at = bytes.lastIndexOf(id); at !== -1; at = bytes.lastIndexOf(id, at - 1)) {
      const start = at - 57
      if (bytes.toString('latin1', start + 122, start + 122 + birth.length) === birth)
        return { path, at: start + HEADER_BYTES }
    }
  }
  throw new Error(`"${id}" is nowhere`)
}
