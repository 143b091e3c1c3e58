/** The members that a node knows: kept over a restart, never older than before, and requested when an unknown peer calls. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openDirectory } from '../../cluster/directory/open-directory.ts'
import { Directory, type Membership } from '../../cluster/directory/directory.ts'
import { MemberFile } from '../../cluster/directory/member-file.ts'
import { DirectoryService } from '../../cluster/directory/membership-port.ts'
import type { Node } from '../../cluster/node/node.ts'
import type { CallHandler, CallResponse } from '../../cluster/transport/transport.ts'
import type { ClusterOptions, KnownMembers, Member } from '../../cluster/base/types.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const member = (nodeId: string, port = 9002): Member => {
  return { nodeId, peerAddress: `${nodeId}.example:${port}`, zone: 'z', weight: 1 }
}
const known = (index: number, ...names: string[]): KnownMembers => {
  return { members: names.map((name) => member(name)), departed: [], index }
}
const first = { voters: ['n1', 'n2'], learners: [], outgoing: [] }
const began = (changes: Partial<Membership> = {}): Membership => {
  return { ...known(0, 'n1', 'n2'), isJoining: false, configured: {}, moved: {}, first, ...changes }
}

async function folder(t: { teardown(callback: () => unknown): unknown }): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-members-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  return dir
}

t.test('Directory', async (t) => {
  t.test('changes in place, and never goes back to an earlier list', async (t) => {
    const directory = new Directory('n1', began())
    const { members, addresses } = directory
    t.ok(directory.replace(known(7, 'n1', 'n3'), false))
    t.same(
      members.map(({ nodeId }) => nodeId),
      ['n1', 'n3'],
    )
    t.same([...addresses.keys()], ['n1', 'n3'])
    t.notOk(directory.replace(known(5, 'n1', 'n2'), false), 'a replayed state has an older list')
    t.notOk(directory.replace(known(7, 'n1', 'n2'), false))
    t.same(directory.names, ['n1', 'n3'])
  })

  t.test('what the group holds over the file of a member holds over a newer file as well', async (t) => {
    const file = { zone: 'z', weight: 1 }
    const held = (index: number, its: { zone: string; weight: number }) => ({
      ...known(index, 'n1'),
      members: [member('n1'), { ...member('n2'), zone: 'rack-9', weight: 5, file: its }],
    })
    const place = { peerAddress: 'n2.elsewhere:9002', zone: 'rack-2', weight: 7 }
    const directory = new Directory('n2', began({ moved: { n2: place } }))
    directory.replace(held(7, file), false)
    t.match(directory.members[1], { peerAddress: place.peerAddress, zone: 'rack-9', weight: 5 })
    t.same(directory.ownPlace, place, 'the group does not know its file yet')
    const latest = held(8, { zone: 'rack-2', weight: 7 })
    const [one, two] = latest.members
    directory.replace(
      { ...latest, members: [one, { ...two, peerAddress: place.peerAddress }] as Member[] },
      false,
    )
    t.equal(directory.ownPlace, null)
    t.match(directory.members[1], { zone: 'rack-9', weight: 5 })
  })

  t.test('knows members and those that left; a waiting node knows every node', async (t) => {
    const directory = new Directory('n1', began({ departed: ['n9'] }))
    t.same(
      ['n2', 'n9', 'n5'].map((name) => directory.knows(name)),
      [true, true, false],
    )
    const claims = { incarnation: 'a', boot: 1, recoveryEpoch: 0, featureLevel: 1, stateLevel: 1 }
    t.match(directory.objectionTo({ nodeId: 'n9', ...claims }), { code: 'member_removed' })
    t.equal(directory.objectionTo({ nodeId: 'n2', ...claims }), null)
    const waiting = new Directory('n4', began({ isJoining: true }))
    t.ok(waiting.knows('n5'))
    t.ok(waiting.replace({ ...known(0), index: 0 }, false), 'it has joined')
    t.notOk(waiting.replace(known(9, 'n4'), true) && waiting.isJoining, 'and does not wait again')
    t.notOk(waiting.knows('n5'))
  })

  t.test('maps a name to an address during one call', async (t) => {
    const directory = new Directory('n1', began())
    await directory.withAddress('n4', 'n4.example:1', async () => {
      t.equal(directory.addresses.get('n4'), 'n4.example:1')
      directory.replace(known(3, 'n1', 'n2'), false)
      t.equal(directory.addresses.get('n4'), 'n4.example:1', 'also while members change')
    })
    t.notOk(directory.addresses.has('n4'))
    await directory.withAddress('n2', 'elsewhere:1', async () => {
      t.equal(directory.addresses.get('n2'), 'n2.example:9002', 'a member keeps its own')
    })
    t.ok(directory.addresses.has('n2'))
  })
})

t.test('members.json', async (t) => {
  t.test('keeps the known members, and refuses the start when a digit of it flipped', async (t) => {
    const dir = await folder(t)
    const file = new MemberFile(dir)
    t.equal(await file.read(), null)
    await Promise.all([file.write(began()), file.write(began({ index: 9 }))])
    t.same(await file.read(), began({ index: 9 }))
    const path = join(dir, 'members.json')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"index":9', '"index":8'))
    await t.rejects(file.read(), { code: 'damaged_members' })
  })

  t.test('stays forever: a later configuration does not change the first one', async (t) => {
    const dir = await folder(t)
    const file = new MemberFile(dir)
    const options = {
      nodeId: 'n4',
      members: [member('n1'), member('n4')],
      isJoining: true,
    } as Partial<ClusterOptions>
    const joining = await openDirectory(options as ClusterOptions, file, await file.read())
    t.same(joining.first.voters, ['n1'], 'it starts outside of the group')
    t.same(joining.names, ['n1'])
    const later = { nodeId: 'n4', members: [member('n4')] } as Partial<ClusterOptions>
    const again = await openDirectory(later as ClusterOptions, file, await file.read())
    t.same([again.first.voters, again.isJoining], [['n1'], true])
    const moved = { nodeId: 'n4', members: [member('n4'), member('n1', 7)] } as Partial<ClusterOptions>
    const before = await file.read()
    await file.write({
      ...(before as Membership),
      configured: { n1: { peerAddress: 'n1.example:9002', zone: 'z', weight: 1 } },
    })
    const elsewhere = await openDirectory(moved as ClusterOptions, file, await file.read())
    t.equal(elsewhere.addresses.get('n1'), 'n1.example:7', 'but an address that was changed there counts')
    elsewhere.replace(known(3, 'n1'), true)
    t.equal(elsewhere.addresses.get('n1'), 'n1.example:7', 'until the row has it')
    elsewhere.replace({ members: [member('n1', 7)], departed: [], index: 4 }, true)
    t.same(elsewhere.present.moved, {})
    const alone = { nodeId: 'n4', members: [member('n4')], isJoining: true } as Partial<ClusterOptions>
    await t.rejects(openDirectory(alone as ClusterOptions, file, null), { code: 'unknown_member' })
  })
})

t.test('a directory that received its removal notice knows it at the next start', async (t) => {
  const dir = await folder(t)
  const file = new MemberFile(dir)
  await file.write(began())
  const configured: Partial<ClusterOptions> = { nodeId: 'n1', members: [member('n1'), member('n2')] }
  const options = configured as ClusterOptions
  const directory = await openDirectory(options, file, await file.read())
  t.equal(directory.expelled, null)
  directory.expel('member_rolled_back')
  directory.expel('member_removed')
  await file.write(directory.present)
  const again = await openDirectory(options, file, await file.read())
  t.equal(again.expelled, 'member_rolled_back', 'the first notice stays')
  again.replace({ ...known(9, 'n2'), departed: ['n1'] }, false)
  t.equal(again.expelled, 'member_removed', 'its own rows record it as well')
})

t.test(
  'a call of an unknown peer: the others are asked for the members, at most once a second',
  async (t) => {
    const directory = new Directory('n1', began())
    const clock = new VirtualClock()
    const asked: string[] = []
    const handlers = new Map<string, CallHandler>()
    const transport = {
      lastContact: () => null,
      fingerprint: null,
      handle: (method: string, handler: CallHandler) => void handlers.set(method, handler),
      async call(to: string, method: string): Promise<CallResponse> {
        asked.push(`${method} ${to}`)
        return { header: known(12, 'n1', 'n2', 'n5'), body: (async function* () {})() }
      },
    }
    const service = new DirectoryService({
      node: {} as Node,
      directory,
      file: new MemberFile(await folder(t)),
      transport,
      incarnation: 'life',
      listen: '127.0.0.1:9002',
      version: '1',
      heartbeatMs: 50,
      hasTls: false,
      clock,
      logger: SILENT,
    })
    clock.advance(1_000)
    service.onUnknownPeer()
    service.onUnknownPeer()
    await until('the new peer is known', () => directory.knows('n5'))
    t.same(asked, ['member.directory n2'])
    t.equal(
      await service.newcomer('n6', '10.0.0.6:9002', false),
      'unusable_address',
      'without TLS beyond loopback',
    )
    t.same(
      (
        await handlers.get('member.directory')?.({
          from: 'n2',
          header: null,
          body: (async function* () {})(),
        })
      )?.header,
      known(12, 'n1', 'n2', 'n5'),
    )
  },
)
