/** Converts an error of the disk to the refusal that a write reports. */
import { BlobWriteError } from './blob-store.ts'
import { errorCode } from '../../base/file-ops.ts'

/** Throws BlobWriteError `disk_full` or `io_error` instead of the system's error, which becomes the cause. */
export async function orRefusal<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (cause) {
    if (cause instanceof BlobWriteError) throw cause
    const full = errorCode(cause) === 'ENOSPC' || errorCode(cause) === 'EDQUOT'
    if (full) throw new BlobWriteError('disk_full', 'Cannot write a blob: the disk is full', { cause })
    throw new BlobWriteError('io_error', 'Cannot write a blob: the disk returned an error', { cause })
  }
}
