/** On which disks copies are: each node is asked for what rows list there, in parts, and its answers add up. */
import t from 'tap'
import { DISK_PLACES_MAX, type DiskPlaces } from '../../cluster/index.ts'
import { DiskTally, tallyDisks } from '../../src/operations/placement/disk-tally.ts'
import type { Services } from '../../src/operations/base/services.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'

const DISKS = [
  { diskId: 'a', directory: '/mnt/a' },
  { diskId: 'b', directory: '/mnt/b' },
]

const chunk = (id: string, sealedSize: number, replicas: readonly string[]) =>
  ({ id, tenantId: 'acme', birth: 'b-1', sealedSize, replicas }) as ChunkRecord

t.test('copies and bytes of each disk, with those that are on none, add up', async (t) => {
  const tally = new DiskTally()
  tally.add([chunk('1', 10, []), chunk('2', 20, []), chunk('3', 5, [])], {
    disks: DISKS,
    found: [0, 1, null],
  })
  tally.add([chunk('4', 7, [])], { disks: DISKS.toReversed(), found: [0] })
  t.same(tally.sums(), {
    disks: [
      { diskId: 'a', directory: '/mnt/a', copies: 1, bytes: 10 },
      { diskId: 'b', directory: '/mnt/b', copies: 2, bytes: 27 },
    ],
    nowhere: { copies: 1, bytes: 5 },
  })
})

t.test(
  'each node is asked for its own copies once, in parts, and one that is silent has no figures',
  async (t) => {
    const asked: [string, number][] = []
    const diskPlaces = async (nodeId: string, names: readonly unknown[]): Promise<DiskPlaces | null> => {
      asked.push([nodeId, names.length])
      return nodeId === 'n2' ? null : { disks: DISKS, found: names.map((_, at) => at % 2) }
    }
    const chunks = Array.from({ length: DISK_PLACES_MAX + 10 }, (_, n) => chunk(`c${n}`, 2, ['n1']))
    const shared = chunk('s', 3, ['n1', 'n2'])
    const cluster = { diskPlaces } as Services['cluster']
    const nodes = await tallyDisks({ cluster }, [...chunks, shared, shared])
    t.same(
      asked.filter(([nodeId]) => nodeId === 'n1'),
      [
        ['n1', DISK_PLACES_MAX],
        ['n1', 11],
      ],
    )
    t.same(
      nodes.map(({ nodeId }) => nodeId),
      ['n1'],
    )
    const bytes = nodes[0]?.disks.reduce((sum, disk) => sum + disk.bytes, 0)
    t.equal(bytes, 2 * (DISK_PLACES_MAX + 10) + 3)
  },
)
