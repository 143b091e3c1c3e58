/**
 * The data directory of a node that starts, before its cluster exists: its permissions, its metadata key, its store.
 *
 * Owns: the order of the three. Knows nothing of: what lies in it. Rule: nothing of the store is on the disk before the key is.
 */
import { join } from 'node:path'
import type { Logger } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { openMetadataKey } from '../access/metadata-key.ts'
import type { KeyNames } from '../access/provided-keys.ts'
import type { Config } from '../config/types.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { prepareDataDir } from './data-dir.ts'

export interface OpenedDataDir extends Store {
  readonly metadataKey: Uint8Array | null
  /** What the cluster is given of the keys. */
  readonly keys: KeyNames & { readonly metadataKey: Uint8Array | null }
}

/** Throws StartError. */
export async function openDataDir(
  { node }: Config,
  masterKey: MasterKey,
  logger: Logger,
): Promise<OpenedDataDir> {
  await prepareDataDir(node.dataDir, logger)
  const metadataKey = await openMetadataKey(node, masterKey)
  const { fingerprint, fingerprints } = masterKey
  const dir = join(node.dataDir, 'state')
  const store = openStore({ dir, logger: logger.child({ component: 'store' }), metadataKey })
  return { ...store, metadataKey, keys: { fingerprint, fingerprints, metadataKey } }
}
