/** Disks of members as services in memory show them. */
import type { Cluster, RepairStatus } from '../../cluster/index.ts'
import { DISK } from '../../src/api/examples/names.ts'

/** What members answer about their disks. */
export class SampleDisks {
  orderDisk: Cluster['orderDisk'] = async (_, { diskId, isDraining }) => {
    const status = isDraining ? 'draining' : 'serving'
    const moves = { copies: 120, bytes: 31_457_280, isComplete: true, roomBytes: 10 ** 12 }
    return { kind: 'done', plan: { directory: '/mnt/disk2/holdfast', diskId, status, ...moves } }
  }
  diskPlaces: Cluster['diskPlaces'] = async () => null
}

/** As a node answers that empties one of its two disks. */
const SIZE = { level: 'open', totalBytes: 4_000_000_000_000, freeBytes: 2_500_000_000_000 } as const
export const TWO_DISKS = [
  {
    nodeId: 'n1',
    status: null,
    disk: {
      ...SIZE,
      isSuspect: false,
      disks: [
        { directory: '/mnt/disk1/holdfast', diskId: '0'.repeat(32), status: 'serving', ...SIZE },
        { directory: '/mnt/disk2/holdfast', diskId: DISK.diskId, status: 'draining', ...SIZE },
      ],
    },
  },
] as const

export const QUIET_REPAIR: RepairStatus = {
  bytesPerSecond: null,
  pending: 2,
  scrub: {
    startedAt: 1_000,
    lastFullAt: null,
    progress: 0.5,
    copies: 7,
    bytes: 700,
    lost: 1,
    removed: 0,
    demand: null,
  },
  inventory: { runs: 1, endedAt: 500, isRunning: false, copies: 9, lost: 0 },
  waitingForDisk: 0,
  directoriesLost: 0,
}
