/**
 * Decides whether an existing copy satisfies a write.
 *
 * Rule: the frame is no proof. The copy is read back in full, and quarantined if it is damaged.
 */
import { BlobDamagedError, BlobMissingError, type BlobName } from '../../base/types.ts'
import { fileNameOf } from './blob-name.ts'
import { type BlobContent, type BlobStore, BlobWriteError } from './blob-store.ts'

/** False: the name is absent now. Throws BlobWriteError `name_taken` when it holds different, intact bytes. */
export async function holdsAlready(
  store: Pick<BlobStore, 'verify' | 'quarantine'>,
  name: BlobName,
  expected: BlobContent,
): Promise<boolean> {
  try {
    const found = await store.verify(name)
    if (found.size === expected.size && found.checksum === expected.checksum) return true
  } catch (cause) {
    if (cause instanceof BlobMissingError) return false
    if (!(cause instanceof BlobDamagedError)) throw cause
    await store.quarantine(name)
    return false
  }
  throw new BlobWriteError(
    'name_taken',
    `Cannot write blob "${fileNameOf(name)}": the name holds other bytes already`,
  )
}
