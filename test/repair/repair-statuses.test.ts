/** The state of repair of all members: a silent member or a malformed answer affects only its own entry. */
import fc from 'fast-check'
import t from 'tap'
import { readRepair, RepairStatuses } from '../../cluster/repair-statuses.ts'
import { type CallHandler, PeerUnreachableError, type Transport } from '../../cluster/transport/transport.ts'
import type { DiskState, RepairStatus } from '../../cluster/base/types.ts'
import { SILENT } from '../helpers/loggers.ts'
import { QUIET_REPAIR } from '../helpers/disk-samples.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const DISK: DiskState = { level: 'open', totalBytes: 10, freeBytes: 5, isSuspect: false }
const EMPTY = { async *[Symbol.asyncIterator]() {} }

/** Members that can reach each other, except the silent ones. */
class Wire {
  readonly handlers = new Map<string, CallHandler>()
  readonly silent = new Set<string>()
  timeouts: (number | undefined)[] = []

  of(nodeId: string): Pick<Transport, 'call' | 'handle'> {
    return {
      handle: (_, handler) => void this.handlers.set(nodeId, handler),
      call: async (to, _, { timeoutMs, header }) => {
        this.timeouts.push(timeoutMs)
        const handler = this.handlers.get(to)
        if (handler === undefined || this.silent.has(to)) throw new PeerUnreachableError(to, 'It is silent')
        return { header: (await handler({ from: nodeId, header, body: EMPTY })).header, body: EMPTY }
      },
    }
  }
}

const members = ['n1', 'n2', 'n3']
const status = (pending: number): RepairStatus => ({ ...QUIET_REPAIR, pending })

t.test('repairStatuses', async (t) => {
  const wire = new Wire()
  const clock = new VirtualClock()
  const hanging = new Set<string>()
  const nodes = members.map((nodeId, n) => {
    const disk = async (): Promise<DiskState> => {
      if (nodeId === 'n3') throw new Error('the disk is gone')
      if (hanging.has(nodeId)) await new Promise(() => undefined)
      return DISK
    }
    const own = { nodeId, members: () => members, transport: wire.of(nodeId), status: () => status(n), disk }
    return new RepairStatuses({ ...own, clock, logger: SILENT })
  })
  const all = () => nodes[0]?.all()

  t.test('cover all members, also one whose disk usage is unknown', async (t) => {
    t.same(await all(), [
      { nodeId: 'n1', status: status(0), disk: DISK },
      { nodeId: 'n2', status: status(1), disk: DISK },
      { nodeId: 'n3', status: status(2), disk: null },
    ])
    t.ok(wire.timeouts.length === 2 && wire.timeouts.every((ms) => ms !== undefined && ms <= 5_000))
  })

  t.test('wait for no disk that hangs, here or at a peer', async (t) => {
    for (const nodeId of ['n1', 'n2']) hanging.add(nodeId)
    const statuses = await clock.resolve(nodes[0]?.all() ?? Promise.resolve([]), { limitMs: 1_000 })
    t.match(statuses, [
      { nodeId: 'n1', status: status(0), disk: null },
      { nodeId: 'n2', status: status(1), disk: null },
      { nodeId: 'n3', status: status(2), disk: null },
    ])
    hanging.clear()
    t.equal(clock.pending, 0)
  })

  t.test('show a member that is silent or sends a malformed answer as unreachable', async (t) => {
    wire.silent.add('n2')
    wire.handlers.set('n3', async () => ({ header: { status: { pending: 'many' }, disk: null } }))
    t.same(await all(), [
      { nodeId: 'n1', status: status(0), disk: DISK },
      { nodeId: 'n2', status: null, disk: null },
      { nodeId: 'n3', status: null, disk: null },
    ])
  })
})

const PART = {
  directory: '/mnt/disk1',
  diskId: 'f'.repeat(32),
  status: 'absent',
  level: 'reserve',
  totalBytes: 0,
  freeBytes: 0,
}

t.test('readRepair', async (t) => {
  const whole = { status: QUIET_REPAIR, disk: DISK }
  t.test(
    'accepts an answer with unknown fields, and refuses one with missing or malformed fields',
    async (t) => {
      t.match(readRepair({ ...whole, more: 1, status: { ...QUIET_REPAIR, more: 2 } }), whole)
      const several = { ...whole, disk: { ...DISK, disks: [PART] } }
      t.same(readRepair(several), several)
      const spoiled = [
        { ...whole, status: null },
        { ...whole, disk: {} },
        { ...whole, disk: { ...DISK, disks: {} } },
        { ...whole, disk: { ...DISK, disks: [{ ...PART, status: 'gone' }] } },
        { ...whole, disk: { ...DISK, disks: [{ ...PART, directory: 1 }] } },
        { ...whole, disk: { ...DISK, disks: Array.from({ length: 66 }, () => PART) } },
        { ...whole, disk: { ...DISK, level: 'brimful' } },
        { ...whole, status: { ...QUIET_REPAIR, pending: NaN } },
        { ...whole, status: { ...QUIET_REPAIR, scrub: { ...QUIET_REPAIR.scrub, lost: null } } },
        { ...whole, status: { ...QUIET_REPAIR, inventory: { ...QUIET_REPAIR.inventory, isRunning: 1 } } },
      ]
      for (const header of spoiled) t.throws(() => readRepair(header), TypeError, JSON.stringify(header))
    },
  )

  t.test('throws only TypeError for any input', async () => {
    fc.assert(
      fc.property(fc.anything(), (header) => {
        try {
          readRepair(header)
        } catch (cause) {
          return cause instanceof TypeError
        }
        return true
      }),
    )
  })
})
