/**
 * Where the copies are, through real sockets.
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { type Ask, ApiWorld } from './api-world.ts'

const PLACEMENT = '/admin/api/v1/cluster/placement'
const BYTES = 20_000

t.test('placement', async (t) => {
  const { world, token: bearer } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('owner')
  const call = (query = '', ask: Partial<Ask> = {}) =>
    world.call({ admin: true, token, path: PLACEMENT + query, ...ask })
  const put = (key: string) =>
    world.call({
      method: 'PUT',
      path: `/api/v1/buckets/photos/objects/${key}`,
      token: bearer,
      body: randomBytes(BYTES),
    })

  for (const key of ['a', 'b', 'c']) t.equal((await put(key)).status, 200)
  await world.memory.tenant('other')
  const addresses = { peerAddress: '127.0.0.1:1', dataAddress: null, adminAddress: null }
  const founder = { nodeId: 'n1', zone: 'rack-1', weight: 1, ...addresses }
  await world.memory.services.propose({ type: 'foundMembers', members: [founder] })

  await t.test('shows chunks, copies and shares of each node and zone [membership.placement]', async (t) => {
    const { json } = await call()
    t.match(json, { chunks: 3, singleCopies: Number, owed: { copies: Number }, isTruncated: false })
    t.ok(Number(json['bytes']) >= 3 * BYTES, 'sealed bytes')
    const nodes = json['nodes'] as readonly { readonly nodeId: string; readonly copies: number }[]
    const { copies } = json['held'] as { readonly copies: number }
    t.equal(
      nodes.reduce((all, node) => all + node.copies, 0),
      copies,
    )
    t.ok(copies >= 3)
  })

  await t.test(
    'pages with a bounded number of chunks add up to the whole [membership.placement.pages]',
    async (t) => {
      for (const scope of ['', '&tenantId=acme', '&tenantId=acme&bucket=photos']) {
        let [chunks, copies, pages, from] = [0, 0, 0, '']
        do {
          const { status, json } = await call(`?limit=1${scope}${from}`)
          t.equal(status, 200)
          t.ok(Number(json['chunks']) <= 1)
          chunks += Number(json['chunks'])
          copies += (json['held'] as { copies: number }).copies
          const next = json['nextContinuationToken']
          from = typeof next === 'string' ? `&continuationToken=${next}` : ''
          pages++
        } while (from !== '' && pages < 10)
        const whole = (await call(`?${scope.slice(1)}`)).json
        t.match(
          { chunks, held: { copies } },
          { chunks: whole['chunks'], held: { copies: (whole['held'] as { copies: number }).copies } },
          scope,
        )
        t.equal(chunks, 3)
      }
    },
  )

  await t.test('of a tenant or a bucket alone, which must exist [membership.placement.scope]', async (t) => {
    t.match((await call('?tenantId=other')).json, { chunks: 0, skew: null })
    t.match((await call('?tenantId=acme&bucket=photos')).json, { chunks: 3 })
    t.match(await call('?tenantId=absent'), { status: 404, code: 'not_found' })
    t.match(await call('?tenantId=acme&bucket=nothing'), { status: 404, code: 'not_found' })
    t.match(await call('?bucket=photos'), { status: 400, code: 'invalid_argument' })
    t.match(await call('?zone=a'), { status: 400 })
  })

  await t.test('invalid_continuation_token: a token of another scope', async (t) => {
    const next = (await call('?limit=1')).json['nextContinuationToken']
    t.type(next, 'string')
    t.match(await call(`?tenantId=acme&continuationToken=${String(next)}`), {
      status: 400,
      code: 'invalid_continuation_token',
    })
  })

  await t.test('shows the disks of nodes that answer', async (t) => {
    const disk = { level: 'open', totalBytes: 1_000, freeBytes: 400, isSuspect: true } as const
    world.memory.repairs = [{ nodeId: 'n1', status: null, disk }]
    const { nodes } = (await call()).json as { nodes: readonly { nodeId: string; disks: unknown }[] }
    for (const node of nodes)
      t.same(
        node.disks,
        node.nodeId === 'n1' ? [{ directory: null, status: 'serving', ...disk }] : null,
        node.nodeId,
      )
  })

  await t.test('by disk, as each node answers for its own copies [membership.placement.disks]', async (t) => {
    const sizes = { level: 'open', freeBytes: 1, status: 'serving' } as const
    const disks = [
      { diskId: 'a', directory: '/mnt/a', totalBytes: 100, ...sizes },
      { diskId: 'b', directory: '/mnt/b', totalBytes: 300, ...sizes },
    ]
    const disk = { level: 'open', totalBytes: 400, freeBytes: 2, isSuspect: false, disks } as const
    world.memory.repairs = [{ nodeId: 'n1', status: null, disk }]
    world.memory.disks.diskPlaces = async (_, names) => ({
      disks,
      found: names.map((_name, at) => (at === 0 ? 0 : null)),
    })
    const { nodes } = (await call('?byDisk=true')).json as {
      nodes: readonly { nodeId: string; byDisk: unknown }[]
    }
    const own = nodes.find(({ nodeId }) => nodeId === 'n1')
    t.match(own?.byDisk, {
      disks: [
        { diskId: 'a', copies: 1, ratio: 4 },
        { diskId: 'b', copies: 0, bytes: 0, ratio: 0 },
      ],
      nowhere: { copies: 2 },
    })
    world.memory.disks.diskPlaces = async () => null
    t.match((await call('?byDisk=true')).json['nodes'], [{ byDisk: null }])
    t.notOk('byDisk' in (nodes[0] === undefined ? {} : (((await call()).json['nodes'] as object[])[0] ?? {})))
  })

  const plan = (body: object) => call('/plan', { method: 'POST', body })

  await t.test(
    'what would move with other weights or zones; nothing changes [membership.placement.plan]',
    async (t) => {
      const before = (await call()).json
      const { status, json } = await plan({ members: [] })
      t.equal(status, 200)
      t.match(json, { chunks: 3, nodes: [{ nodeId: 'n1' }], isTruncated: false })
      let [chunks, from]: [number, object] = [0, {}]
      for (let pages = 0; pages < 10; pages++) {
        const page = (await plan({ members: [], tenantId: 'acme', bucket: 'photos', limit: 1, ...from })).json
        chunks += Number(page['chunks'])
        if (page['isTruncated'] !== true) break
        from = { continuationToken: page['nextContinuationToken'] }
      }
      t.equal(chunks, 3)
      t.match((await call()).json, { chunks: before['chunks'], held: before['held'] })
    },
  )

  await t.test(
    'a member that is none, or a token of another question [membership.placement.plan.refusals]',
    async (t) => {
      t.match(await plan({ members: [{ nodeId: 'n9', weight: 2 }] }), { status: 404, code: 'not_found' })
      t.match(await plan({ members: [{ nodeId: 'n1', weight: -1 }] }), { status: 400 })
      t.match(await plan({}), { status: 400 })
      const { nextContinuationToken: token } = (await plan({ members: [], limit: 1 })).json
      const other = { members: [], tenantId: 'acme', continuationToken: token }
      t.match(await plan(other), { status: 400, code: 'invalid_continuation_token' })
    },
  )
})
