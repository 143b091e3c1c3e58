/**
 * What a failed call to the disk means to whoever wanted to write.
 */
import { BlobWriteError } from './blob-store.ts'
import { errorCode } from '../../base/file-ops.ts'

/** Throws BlobWriteError `disk_full` or `io_error` in the place of what the system said. */
export async function orRefusal<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (cause) {
    if (cause instanceof BlobWriteError) throw cause
    const full = errorCode(cause) === 'ENOSPC' || errorCode(cause) === 'EDQUOT'
    if (full) throw new BlobWriteError('disk_full', 'Cannot write a blob: the disk is full', { cause })
    throw new BlobWriteError('io_error', 'Cannot write a blob: the disk refuses', { cause })
  }
}
