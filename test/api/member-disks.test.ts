/**
 * The disks of a member and orders to empty them, through real sockets.
 */
import t from 'tap'
import type { DiskOrder, DiskOrdered } from '../../cluster/index.ts'
import { DISK } from '../../src/api/examples/names.ts'
import { TWO_DISKS } from '../helpers/disk-samples.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import { ApiWorld } from './api-world.ts'

const reason = 'it reports errors'
const plan = {
  directory: '/mnt/disk2/holdfast',
  diskId: DISK.diskId,
  status: 'serving',
  copies: 7,
  bytes: 70,
  isComplete: true,
  roomBytes: 60,
} as const

t.test('disks of a member', async (t) => {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('owner')
  await foundThree(world.memory)
  world.memory.repairs = TWO_DISKS
  const orders: (DiskOrder & { readonly nodeId: string })[] = []
  let outcome: DiskOrdered = { kind: 'done', plan: { ...plan, status: 'draining' } }
  world.memory.disks.orderDisk = async (nodeId, order) => {
    orders.push({ nodeId, ...order })
    return outcome
  }
  const call = (method: 'GET' | 'POST', path: string) =>
    world.call({
      admin: true,
      token,
      method,
      path: `/admin/api/v1/cluster/members/${path}`,
      ...(method === 'POST' ? { body: { reason } } : {}),
    })
  const drain = (query = '', nodeId = 'n2') => call('POST', `${nodeId}/disks/${DISK.diskId}/drain${query}`)

  await t.test('are listed with what is left and what to do [membership.disks]', async (t) => {
    const { status, json } = await call('GET', 'n1/disks')
    t.match(
      { status, ...json },
      {
        status: 200,
        disks: [
          { status: 'serving', left: null, doubt: null, suggestion: null },
          { diskId: DISK.diskId, status: 'draining', left: { copies: 7, bytes: 70, roomBytes: 60 } },
        ],
      },
    )
    const doubted = structuredClone(TWO_DISKS) as typeof world.memory.repairs
    world.memory.repairs = doubted.map((node) => ({
      ...node,
      disk: node.disk && {
        ...node.disk,
        disks: node.disk.disks?.map((one) => ({ ...one, doubt: 'errors' as const })) ?? [],
      },
    }))
    t.match((await call('GET', 'n1/disks')).json, {
      disks: [{ doubt: 'errors', suggestion: /Drain/ }, { suggestion: null }],
    })
    const placement = await world.call({ admin: true, token, path: '/admin/api/v1/cluster/placement' })
    t.match(placement.json['nodes'], [{ disks: [{ doubt: 'errors', suggestion: /Drain/ }, {}] }])
    t.match(await call('GET', 'n2/disks'), { status: 412, code: 'precondition_failed' })
    t.match(await call('GET', 'n9/disks'), { status: 404 })
  })

  await t.test(
    'are emptied by the node that has them, and the log says so [membership.disks.drain]',
    async (t) => {
      orders.length = 0
      t.match(await drain(), {
        status: 200,
        json: { nodeId: 'n2', status: 'draining', copies: 7, bytes: 70 },
      })
      const { diskId } = DISK
      t.same(orders, [{ nodeId: 'n2', diskId, isDraining: true, isRehearsal: false }])
      t.match(world.memory.auditRows.at(-1), { operation: 'drainDisk', details: { nodeId: 'n2', diskId } })
      orders.length = 0
      t.match((await drain('?dryRun=true')).json, {
        dryRun: true,
        allowed: true,
        plan: { copies: 7, bytes: 70 },
      })
      t.same(
        orders.map(({ isRehearsal }) => isRehearsal),
        [true],
        'a dry run orders nothing',
      )
      orders.length = 0
      await drain('/cancel')
      t.match(orders, [{ isDraining: false, isRehearsal: false }])
    },
  )

  await t.test('are not emptied when that cannot be meant [membership.disks.refusals]', async (t) => {
    t.match(await drain('', 'n9'), { status: 404, code: 'not_found' })
    const refused = [
      ['no_disk', 404, /has no disk/],
      ['one_disk', 412, /has one disk/],
      ['out', 412, /out of use/],
      ['not_listed', 412, /does not name it/],
      ['no_answer', 412, /does not answer/],
      ['no_room', 412, /70 bytes would move, .* take 60 more/],
    ] as const
    for (const [why, status, message] of refused) {
      outcome = { kind: 'refused', why, plan }
      t.match(await drain(), { status, json: { message } }, why)
    }
    t.match((await drain('?dryRun=true')).json, {
      allowed: false,
      blockers: [{ code: 'precondition_failed' }],
      plan: { bytes: 70, roomBytes: 60 },
    })
    const operator = await world.memory.adminToken('operator')
    const path = `/admin/api/v1/cluster/members/n2/disks/${DISK.diskId}/drain`
    t.match(await world.call({ admin: true, token: operator, method: 'POST', path, body: { reason } }), {
      status: 403,
    })
  })
})
