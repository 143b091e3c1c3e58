/**
 * Data directories that go back in time beside a node that lags, with real processes. [deploy/runbooks/disk-went-back.md]
 *
 * Rule: acknowledged writes are at every node in the end, and no node serves before a node that has them is back.
 */
import {
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../helpers/async.ts'
import { type Answer, type Asked, ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'
import { copyOfOpen } from '../store/open-copy.ts'

const NODES = ['n1', 'n2', 'n3']

/** On a loaded machine a healthy leader may miss an election time-out; more than once in a row is a fault. */
const ATTEMPTS_MAX = 3

class Scene {
  readonly cluster: ProcessCluster
  readonly copies: string
  #count = 0

  constructor(cluster: ProcessCluster, copies: string) {
    this.cluster = cluster
    this.copies = copies
  }

  static async set(t: Test): Promise<Scene> {
    const cluster = await ProcessCluster.start(t, NODES.length)
    await cluster.login('n1')
    const { status } = await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
    t.equal(status, 201)
    const scene = new Scene(cluster, temporaryFolder(t))
    for (const nodeId of NODES) await scene.#isFounded(nodeId)
    return scene
  }

  /** The level is raised and the members are founded by entries of their own, soon after the node is ready: a copy must not be older. */
  async #isFounded(nodeId: string): Promise<void> {
    // No node is suspect below this level.
    await until('the state is at level 3 at least', async () => {
      return ((await this.cluster.metric(nodeId, 'holdfast_raft_feature_level')) ?? 0) >= 3
    })
    await until(`the members are founded, and ${nodeId} has applied it`, async () => {
      return (await this.membersAt(nodeId)).length === NODES.length
    })
  }

  /** As this node has them. */
  async membersAt(nodeId: string): Promise<readonly { readonly nodeId: string }[]> {
    const local = { method: 'GET', path: '/cluster/membership?consistency=local' } as const
    const { body } = await this.cluster.admin(nodeId, local)
    return (JSON.parse(body.toString()) as { members: { nodeId: string }[] }).members
  }

  async leader(): Promise<string> {
    let leader: string | undefined
    await until('somebody leads', async () => (leader = await this.cluster.leader()) !== undefined)
    return leader ?? ''
  }

  /** Changes whenever another node leads, or the same one again. */
  async leadership(): Promise<string> {
    const leader = await this.leader()
    return `${leader} in term ${await this.cluster.metric(leader, 'holdfast_raft_term')}`
  }

  /** The answer of the node, once it is not between two leaders. */
  settled(nodeId: string, asked: Asked): Promise<Answer> {
    return settled(() => this.cluster.ask(nodeId, asked))
  }

  settledAdmin(nodeId: string, path: string): Promise<Answer> {
    return settled(() => this.cluster.admin(nodeId, { method: 'GET', path }))
  }

  folderOf(nodeId: string): string {
    return join(dirname(this.cluster.node(nodeId).configFile), nodeId)
  }

  logOf(nodeId: string): string {
    return readFileSync(this.cluster.node(nodeId).logFile, 'utf8')
  }

  async tenMore(at: string): Promise<void> {
    for (let i = 0; i < 10; i += 1) {
      const name = `o${this.#count++}`
      const path = `/buckets/kept/objects/${name}`
      const { status } = await this.settled(at, { method: 'PUT', path, body: Buffer.from(name) })
      if (status >= 300) throw new Error(`${name}: ${status}`)
    }
  }

  async missingAt(nodeId: string): Promise<readonly string[]> {
    const names = Array.from({ length: this.#count }, (_, i) => `o${i}`)
    const found = await Promise.all(
      names.map((name) => this.settled(nodeId, { method: 'GET', path: `/buckets/kept/objects/${name}` })),
    )
    return names.filter((name, i) => found[i]?.body.toString() !== name)
  }

  /** Copies the directory like a disk snapshot: the process is suspended meanwhile. */
  copy(nodeId: string): void {
    this.cluster.pause(nodeId)
    // A system call that was under way may end after the signal.
    copyOfOpen(this.folderOf(nodeId), join(this.copies, nodeId))
    this.cluster.resume(nodeId)
  }

  restore(nodeId: string): void {
    rmSync(this.folderOf(nodeId), { recursive: true })
    cpSync(join(this.copies, nodeId), this.folderOf(nodeId), { recursive: true })
  }

  /** Cuts the newest segment to its length in the copy. */
  cutLog(nodeId: string): void {
    const copied = join(this.copies, nodeId, 'raft')
    const newest =
      readdirSync(copied)
        .filter((name) => name.endsWith('.wal'))
        .toSorted()
        .at(-1) ?? ''
    truncateSync(join(this.folderOf(nodeId), 'raft', newest), statSync(join(copied, newest)).size)
  }

  /** n3 lags, and both that acknowledged are down. */
  async acknowledgeByTwo(): Promise<{
    readonly leader: string
    readonly second: string
    readonly third: string
  }> {
    const { cluster } = this
    const leader = await this.leader()
    const [second = '', third = ''] = NODES.filter((nodeId) => nodeId !== leader)
    await cluster.signal(third, 'SIGKILL')
    this.copy(second)
    await this.tenMore(leader)
    for (const nodeId of [leader, second]) await cluster.signal(nodeId, 'SIGKILL')
    return { leader, second, third }
  }

  async endsWhole(t: Test): Promise<void> {
    await this.cluster.allReady()
    for (const nodeId of NODES) t.strictSame(await this.missingAt(nodeId), [], `everything is at ${nodeId}`)
  }
}

async function settled(ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask()
  await until('there is an answer', async () => {
    if (answer.status === 503) answer = await ask()
    return answer.status !== 503
  })
  return answer
}

t.test('an older copy of a directory, beside a node that lags', { timeout: 1_800_000 }, async (t) => {
  const scene = await Scene.set(t)
  const { leader, second, third } = await scene.acknowledgeByTwo()
  scene.restore(second)
  scene.cluster.startNode(second)
  scene.cluster.startNode(third)
  await until('the copy reports what it waits for', async () => {
    return (await scene.cluster.unreadiness(second))?.includes('disk_not_proved_current') === true
  })
  t.match(scene.logOf(second), /disk is not proved current/)
  const members = await scene.membersAt(second)
  t.match(
    members.find(({ nodeId }) => nodeId === second),
    // The witness of this host has seen more; without a witness it cannot be known.
    {
      conditions: [{ code: /^(member_rolled_back|disk_not_proved_current)$/, message: /Keep the others up/ }],
    },
    'and shows it among the members',
  )
  t.equal(await scene.cluster.leader(), undefined, 'two of three are no quorum')
  scene.cluster.startNode(leader)
  await scene.endsWhole(t)
})

t.test('a log that ends before its state, beside a node that lags', { timeout: 1_800_000 }, async (t) => {
  const scene = await Scene.set(t)
  const { leader, second, third } = await scene.acknowledgeByTwo()
  scene.cutLog(second)
  scene.cluster.startNode(second)
  scene.cluster.startNode(third)
  await until('the cut is noticed', async () => {
    return (await scene.cluster.unreadiness(second))?.includes('disk_not_proved_current') === true
  })
  scene.cluster.startNode(leader)
  await scene.endsWhole(t)
})

t.test('an older copy of a directory under the same leader', { timeout: 1_800_000 }, async (t) => {
  const scene = await Scene.set(t)
  const { cluster } = scene
  let leader: string | undefined
  for (let attempt = 0; leader === undefined && attempt < ATTEMPTS_MAX; attempt += 1) {
    const before = await scene.leadership()
    const present = await scene.leader()
    const follower = NODES.find((nodeId) => nodeId !== present) ?? ''
    scene.copy(follower)
    await scene.tenMore(present)
    await cluster.signal(follower, 'SIGKILL')
    scene.restore(follower)
    cluster.startNode(follower)
    await scene.endsWhole(t)
    // Another leader does not know what the follower acknowledged, and can prove nothing.
    if ((await scene.leadership()) === before) leader = present
  }
  if (leader === undefined) throw new Error(`the leader changed in each of ${ATTEMPTS_MAX} attempts`)
  t.match(scene.logOf(leader), /member_rolled_back/)
})

t.test('kill -9 of all nodes on a host that keeps running', { timeout: 1_800_000 }, async (t) => {
  const scene = await Scene.set(t)
  const { cluster } = scene
  await scene.tenMore('n1')
  for (const nodeId of NODES) await cluster.signal(nodeId, 'SIGKILL')
  for (const nodeId of ['n1', 'n2']) cluster.startNode(nodeId)
  await until('two of three serve', async () => (await cluster.ready('n1')) && (await cluster.ready('n2')))
  cluster.startNode('n3')
  await scene.endsWhole(t)
  t.notMatch(scene.logOf('n1'), /disk is not proved current.*suspect/)
})

t.test('an operator states that a disk is current', { timeout: 1_800_000 }, async (t) => {
  const scene = await Scene.set(t)
  const { second, third } = await scene.acknowledgeByTwo()
  scene.restore(second)
  const config = scene.cluster.node(second).configFile
  const refused = await runCommand('recover', 'trust-disk', '--config', config)
  t.equal(refused.code, 3)
  t.match(refused.err, /repeat the command with --confirm/)
  const trusted = ['recover', 'trust-disk', '--config', config, '--reason', 'issue-4711', '--confirm']
  await t.test('and is refused where the statement could not be audited', async (t) => {
    const [spool, proof] = ['audit', 'disk-proof.json'].map((name) => join(scene.folderOf(second), name))
    const before = readFileSync(proof ?? '')
    renameSync(spool ?? '', `${spool}-aside`)
    writeFileSync(spool ?? '', '')
    const unwritten = await runCommand(...trusted)
    t.match(unwritten, {
      code: 1,
      err: /Cannot write the audit row .*Nothing was changed\. Free space on that disk/s,
    })
    t.ok(readFileSync(proof ?? '').equals(before), 'nothing was stated')
    rmSync(spool ?? '')
    renameSync(`${spool}-aside`, spool ?? '')
  })
  const reported = await runCommand(...trusted)
  t.equal(reported.code, 0, reported.err)
  scene.cluster.startNode(second)
  scene.cluster.startNode(third)
  await until('the two serve', async () => (await scene.cluster.ready(second)) && scene.cluster.ready(third))
  await t.test('and the audit log has one row about it, also after the node was killed', async (t) => {
    const rows = async (): Promise<readonly object[]> => {
      const { body } = await scene.settledAdmin(third, '/audit?operation=trustDisk')
      return (JSON.parse(body.toString()) as { records: object[] }).records
    }
    await until('the row is in the log', async () => (await rows()).length > 0)
    const row = {
      operation: 'trustDisk',
      api: 'internal',
      actor: { type: 'system' },
      reason: 'issue-4711',
      nodeId: second,
      outcome: 'success',
      details: { incarnation: String, before: /./ },
    }
    t.match(await rows(), [row])
    await scene.cluster.signal(second, 'SIGKILL')
    scene.cluster.startNode(second)
    await until(`${second} serves`, () => scene.cluster.ready(second))
    // Its spool is empty again when the rows of this process are in the log.
    const path = '/buckets/kept/objects/no-such-object'
    const { status } = await scene.settled(second, { method: 'GET', path })
    t.equal(status, 404)
    await until('a later row is in the log', async () => {
      const { body } = await scene.settledAdmin(third, '/audit?key=no-such-object')
      return body.toString().includes('"no-such-object"')
    })
    t.equal((await rows()).length, 1, 'and the first one is present once')
  })
})
