/**
 * The store of the simulated tests fulfils the same contract as the store on disk.
 */
import t from 'tap'
import { blobStoreContract } from '../port-suites/blob-store.ts'
import { MemoryBlobStore } from './memory-blob-store.ts'

t.test('MemoryBlobStore', (t) =>
  blobStoreContract(t, async () => {
    const store = new MemoryBlobStore()
    return { store, damage: (name) => store.damage(name) }
  }),
)
