/**
 * A small file that is replaced whole.
 *
 * Rule: temporary file, fsync, rename, fsync of the directory: after a crash the file holds the old text or the new one, never a mixture.
 */
import { dirname } from 'node:path'
import { errorCode, type FileOps } from './file-ops.ts'

/** Durable when it resolves. One call at a time for each path: the temporary file is `<path>.tmp`. */
export async function replaceFile(path: string, text: string, ops: FileOps): Promise<void> {
  const temporary = `${path}.tmp`
  await removeLeftover(temporary, ops)
  const file = await ops.create(temporary)
  try {
    await ops.append(file, [Buffer.from(text)])
    await ops.syncFile(file)
  } finally {
    await file.close()
  }
  await ops.rename(temporary, path)
  await ops.syncDirectory(dirname(path))
}

async function removeLeftover(temporary: string, ops: FileOps): Promise<void> {
  try {
    await ops.unlink(temporary)
  } catch (cause) {
    if (errorCode(cause) !== 'ENOENT') throw cause
  }
}
