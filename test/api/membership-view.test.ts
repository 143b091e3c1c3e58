/** The view of the members: the copies of each, the warnings of a plan, and the view in an outage. */
import t from 'tap'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import { Condition, type MemberDoubt, type MembershipPort } from '../../cluster/index.ts'
import type { MembersRecord } from '../../src/state-machine/members/records.ts'
import { foundThree, singleNodeStatus } from '../helpers/membership-samples.ts'
import { ApiWorld, type ApiAnswer } from './api-world.ts'
import { RIGHT } from './membership-refusal-cases.ts'
import { chunkRanges } from '../../src/state-machine/chunks/keys.ts'

const BASE = '/admin/api/v1'
const reason = 'tests'

interface Row {
  readonly nodeId: string
  readonly blobs: {
    readonly replicas: number
    readonly lastCopies: number
    readonly countedAt: string
  } | null
}

async function begin(t: Parameters<typeof ApiWorld.start>[0], changes: Partial<MembershipPort> = {}) {
  const { world, token: bearer } = await ApiWorld.withBucket(t)
  const { memory } = world
  await foundThree(memory, changes)
  const token = await memory.adminToken('owner')
  const ask = (path: string, body?: object): Promise<ApiAnswer> =>
    world.call({
      admin: true,
      token,
      path: `${BASE}${path}`,
      ...(body === undefined ? {} : { method: 'POST', body }),
    })
  const put = (key: string): Promise<ApiAnswer> => {
    const body = Buffer.alloc(70_000, key)
    return world.call({ method: 'PUT', path: `/api/v1/buckets/photos/objects/${key}`, token: bearer, body })
  }
  return { world, memory, ask, put }
}

/** Of the chunks that were stored, only the first is left, and on n3 alone. */
async function loseAllBut(memory: ApiWorld['memory'], node: string): Promise<void> {
  const { items } = await memory.reader.page(chunkRanges.chunks(), { limit: 10 })
  const [chunk] = items
  if (chunk === undefined) throw new Error('nothing was stored')
  const copies = [{ tenantId: chunk.tenantId, chunkId: chunk.id, birth: chunk.birth }]
  for (const other of chunk.replicas.filter((replica) => replica !== node))
    await memory.change({ type: 'dropReplicas', node: other, copies, operation: null })
}

t.test('each member shows its copies, and those that only it has [membership.blobs]', async (t) => {
  const { memory, ask, put } = await begin(t)
  const shown = async (): Promise<readonly string[]> => {
    const { json } = await ask('/cluster/membership')
    return (json['members'] as readonly Row[]).map(
      ({ nodeId, blobs }) => `${nodeId} ${blobs?.replicas} ${blobs?.lastCopies}`,
    )
  }
  t.same(await shown(), ['n1 0 0', 'n2 0 0', 'n3 0 0'])
  await put('a')
  await put('b')
  t.same(await shown(), ['n1 2 0', 'n2 2 0', 'n3 2 0'])
  await loseAllBut(memory, 'n3')
  t.same(await shown(), ['n1 1 0', 'n2 1 0', 'n3 2 1'])
  const plan = await ask('/cluster/voters/n3/lost?dryRun=true', { reason, confirm: 'n3' })
  t.match(plan.json, { plan: { copiesToMove: 2, bytesToMove: Number, lastCopies: 1 } })
  t.match(plan.json['warnings'], [
    /cannot be taken back/,
    /0 of 2 voters may fail, now 1/,
    /2 voters bear no more/,
    /Of 1 chunks the only listed copy is on "n3": they are lost with it/,
  ])
  const demotion = await ask('/cluster/voters/n3/demote?dryRun=true', { reason })
  t.notMatch(JSON.stringify(demotion.json['warnings']), /lost with it/, 'its copies are moved')
})

t.test(
  'a plan warns of zones that hold a majority, and when no member may fail [membership.warnings]',
  async (t) => {
    const { memory, ask } = await begin(t)
    const rezone = async (...zones: readonly string[]): Promise<void> => {
      const row = memory.reader.get(memberKeys.members()) as MembersRecord
      const members = row.members.map((member, n) => ({ ...member, zone: zones[n] ?? member.zone }))
      await memory.writeRow(memberKeys.members(), { ...row, members })
    }
    const warnings = async (path: string, body: object): Promise<unknown> =>
      (await ask(`${path}?dryRun=true`, { reason, ...body })).json['warnings']
    t.notMatch(String(await warnings('/cluster/voters/n3/demote', {})), /zone/, 'all are in one')
    await rezone('east', 'west', 'north')
    const west = { nodeId: 'n4', peerAddress: '10.0.0.4:9002', zone: 'west' }
    t.match(await warnings('/cluster/voters', west), [
      /4 voters bear no more failures than 3/,
      /zone "west" holds 2 of 4 voters: without it there is no majority/,
    ])
    const replacement = { replacement: west, confirm: 'n3' }
    t.match(await warnings('/cluster/voters/n3/replace', replacement), [
      /cannot be taken back/,
      /zone "west" holds 2 of 3 voters/,
    ])
    t.same(await warnings('/cluster/voters', { ...west, zone: 'south' }), [
      '4 voters bear no more failures than 3',
    ])
    const { members, ...row } = memory.reader.get(memberKeys.members()) as MembersRecord
    const drained = members.map((member) => {
      return member.nodeId === 'n3' ? { ...member, phase: 'drained' as const } : member
    })
    await memory.writeRow(memberKeys.members(), { ...row, members: drained })
    t.match(await warnings('/cluster/members/n3/remove', { confirm: 'n3' }), [
      /cannot be taken back/,
      /2 voters bear no more/,
      /Afterwards as now none of 2 voters may fail/,
      /zone "east" holds 1 of 2/,
      /zone "west" holds 1 of 2/,
    ])
  },
)

t.test('in an outage a node reports its own view, and the remedy [membership.outage]', async (t) => {
  const status = singleNodeStatus('n1', {
    isLeader: false,
    leaderId: null,
    term: 7,
    heardMs: { n2: 40, n3: 90_000 },
  })
  const voters = ['n1', 'n2', 'n3']
  const configuration = { voters, learners: [], outgoing: [] }
  const { memory, ask } = await begin(t, { local: () => ({ ...status, configuration }) })
  memory.barrierFault = new Condition('no_quorum', 'Cannot read: no majority confirmed the leader')
  memory.notReady = ['No leader is known: a majority of n1, n2, n3 must be up and reach each other']
  const refused = await ask('/cluster/membership')
  t.match(refused, { status: 503, code: 'no_quorum', headers: { 'retry-after': '1' } })
  t.match(refused.json['message'], /consistency=local .*holdfast recover .*deploy\/runbooks\/lost-quorum\.md/)
  t.match((await ask('/cluster/membership?consistency=local')).json, {
    authoritative: false,
    term: 7,
    committedIndex: 1,
    leaderId: null,
    quorum: 2,
    reasons: [/No leader is known/],
    members: [
      { nodeId: 'n1', role: 'voter', lastContactMs: 0, reachable: true },
      { nodeId: 'n2', role: 'voter', lastContactMs: 40, reachable: null },
      { nodeId: 'n3', role: 'voter', lastContactMs: 90_000, reachable: null },
    ],
  })
})

t.test('a member whose disk went back is reported with its remedy [membership.conditions]', async (t) => {
  const voters = ['n1', 'n2', 'n3']
  const configuration = { voters, learners: [], outgoing: [] }
  const leader = singleNodeStatus('n1', { configuration })
  const { memory, ask } = await begin(t)
  const shown = async (
    path: string,
    found: Readonly<Record<string, readonly MemberDoubt[]>>,
    silent = '',
  ): Promise<unknown> => {
    const doubtful = (nodeId: string) => ({ doubts: found[nodeId] ?? [] })
    const own = { ...leader, ...doubtful('n1') }
    const others = ['n2', 'n3'].map((nodeId) => {
      const status = singleNodeStatus(nodeId, { isLeader: false, leaderId: 'n1', ...doubtful(nodeId) })
      return [nodeId, nodeId === silent ? null : status] as const
    })
    const memberStatuses = new Map([['n1', own], ...others])
    memory.membership = { ...memory.membership, local: () => own, memberStatuses: async () => memberStatuses }
    const { members } = (await ask(path)).json as { members: readonly { conditions?: object[] }[] }
    return members.map(({ conditions }) => conditions)
  }
  const path = '/cluster/membership'
  t.same(await shown(path, {}), [undefined, undefined, undefined], 'nothing is wrong')
  const suspect = { nodeId: 'n2', what: 'suspect' } as const
  const goneBack = { nodeId: 'n2', what: 'rolledBack' } as const
  const expelled = { nodeId: 'n2', what: 'member_rolled_back' } as const
  const notProved = {
    code: 'disk_not_proved_current',
    message: /n2 is not proved current: .*one voter more.*disk-went-back\.md/,
  }
  const rolledBack = {
    code: 'member_rolled_back',
    message: /n2 has lost entries .*together with those of all other voters.*disk-went-back\.md/,
  }
  t.match(await shown(path, { n1: [suspect] }), [undefined, [notProved], undefined], 'the leader knows')
  t.match(await shown(path, { n2: [suspect] }), [undefined, [notProved], undefined], 'it says so itself')
  t.match(await shown(path, { n1: [goneBack], n2: [suspect] }), [undefined, [rolledBack], undefined])
  t.same(
    await shown(path, { n3: [goneBack] }),
    [undefined, undefined, undefined],
    'a campaign ended long ago',
  )
  const unreceived = { code: 'member_rolled_back', message: /older copy.*start the node with the directory/ }
  t.match(await shown(path, { n1: [expelled] }, 'n2'), [undefined, [unreceived], undefined])
  t.same(await shown(path, { n1: [expelled] }), [undefined, undefined, undefined], 'it is accepted again')
  t.match(await shown(`${path}?consistency=local`, { n1: [expelled, suspect] }), [
    undefined,
    [unreceived],
    undefined,
  ])
})

t.test('no dry run changes a row, whether it is allowed or not [membership.dry-run]', async (t) => {
  const { memory, ask } = await begin(t)
  const before = memory.checksum()
  const { proposals } = memory
  for (const [operation, request] of Object.entries(RIGHT)) {
    const { method, path, body = {} } = request()
    if (method !== 'POST' || operation === 'cancelOperation') continue
    for (const name of ['n1', 'n2', 'n3'])
      await ask(`${path.replace('n3', name)}?dryRun=true`, {
        ...body,
        ...('confirm' in body ? { confirm: name } : {}),
      })
  }
  t.equal(memory.checksum(), before)
  t.equal(memory.proposals, proposals)
})
