/**
 * Directories for blobs that cannot be used, each with the code that refuses it.
 */
import { type BrokenConfiguration, leaves, makes, writes } from './broken-files.ts'

const DISK = JSON.stringify({ format: 1, clusterId: 'test-cluster', nodeId: 'n2', diskId: 'f'.repeat(32) })

export const OF_DISKS: readonly BrokenConfiguration[] = [
  {
    what: 'a directory for blobs that does not exist',
    code: 'blob_directory_unusable',
    settings: { 'node.blob_directories': '[d1]' },
  },
  {
    what: 'a directory for blobs with other files',
    code: 'blob_directory_unusable',
    settings: { 'node.blob_directories': '[d1]' },
    prepare: (folder) => {
      makes('d1', 0o700)(folder)
      writes('d1/photo.jpg', '')(folder)
    },
  },
  {
    what: 'a directory for blobs with a disk of another node',
    code: 'blob_directory_unusable',
    settings: { 'node.blob_directories': '[d1]' },
    prepare: (folder) => {
      makes('d1', 0o700)(folder)
      writes('d1/disk.json', DISK)(folder)
    },
  },
  {
    what: 'a record of disks that is none',
    code: 'blob_directory_unusable',
    settings: { 'node.blob_directories': '[d1]' },
    prepare: (folder) => {
      leaves({})(folder)
      makes('d1', 0o700)(folder)
      writes('data/disks.json', '{}')(folder)
    },
  },
]
