/**
 * Mistakes of operators when they join a node, and the printed remedy: the test follows each hint verbatim.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { MasterKey } from '../../src/access/master-key.ts'
import { until } from '../helpers/async.ts'
import { CommandLine } from '../helpers/command-line.ts'
import { MANY_ADMIN_REQUESTS, membershipAt, placed, untilAllowed } from '../helpers/member-steps.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

/** Long enough to be cancelled before it ends. */
const SLOW_MEMBERS = `${MANY_ADMIN_REQUESTS}\ncluster: { promote_after: 8s }`

interface Settings {
  readonly security: object
}

interface StartedOperation {
  readonly operationId: string
  readonly status: string
  readonly code?: string
  readonly message?: string
  readonly blockers?: readonly { readonly code: string }[]
}

class Desk {
  readonly cluster: ProcessCluster
  constructor(cluster: ProcessCluster) {
    this.cluster = cluster
  }

  requested(nodeId: string) {
    const { peerAddress } = this.cluster.node(nodeId)
    return { path: '/cluster/voters', body: { nodeId, peerAddress, reason: 'tests' } }
  }

  async join(nodeId: string): Promise<StartedOperation> {
    await untilAllowed(this.cluster, 'n1', this.requested(nodeId))
    return this.ask(nodeId)
  }

  async ask(nodeId: string): Promise<StartedOperation> {
    const { path, body } = this.requested(nodeId)
    const answer = await this.cluster.admin('n1', { method: 'POST', path, body })
    return JSON.parse(answer.body.toString()) as StartedOperation
  }

  async operation(id: string): Promise<StartedOperation> {
    const asked = { method: 'GET', path: `/cluster/operations/${id}` } as const
    return JSON.parse((await this.cluster.admin('n1', asked)).body.toString()) as StartedOperation
  }

  log(nodeId: string): string {
    return readFileSync(this.cluster.node(nodeId).logFile, 'utf8')
  }

  files(nodeId: string): readonly string[] {
    return readdirSync(this.cluster.node(nodeId).dataDir).toSorted()
  }

  /** Waits for the end with an error; returns the output. */
  async refused(nodeId: string): Promise<string> {
    await until(`${nodeId} has ended`, async () => !this.cluster.isRunning(nodeId))
    return this.log(nodeId)
  }

  /** Changes one value of its settings. */
  set(nodeId: string, section: string, values: object): void {
    const { configFile } = this.cluster.node(nodeId)
    const config = parse(readFileSync(configFile, 'utf8')) as Record<string, object>
    writeFileSync(configFile, stringify({ ...config, [section]: { ...config[section], ...values } }))
  }
}

t.test('mistakes of operators who join a node', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 1, SLOW_MEMBERS, { spares: 4 })
  const desk = new Desk(cluster)

  await t.test('a join that was cancelled, and the same name again', async (t) => {
    cluster.startJoining('n2')
    const { operationId } = await desk.join('n2')
    await until('n2 has registered', async () => {
      const { members } = await membershipAt(cluster, 'n1')
      const member = members.find(({ nodeId }) => nodeId === 'n2') as { readonly dataAddress?: string | null }
      return typeof member?.dataAddress === 'string'
    })
    // Keeps the node from getting its vote meanwhile.
    cluster.pause('n2')
    const path = `/cluster/operations/${operationId}/cancel`
    t.match(await cluster.admin('n1', { method: 'POST', path }), { status: 200 })
    await until('n2 is removed', async () => placed(await membershipAt(cluster, 'n1')) === 'n1 active voter')
    cluster.resume('n2')
    await cluster.signal('n2', 'SIGKILL')
    const { dataDir } = cluster.node('n2')
    renameSync(dataDir, `${dataDir}-kept`)
    cluster.startJoining('n2')
    await until('an empty directory is refused', async () => {
      const { code, message } = await desk.ask('n2')
      return code === 'member_tombstoned' && /start the node with that directory/.test(String(message))
    })
    await cluster.signal('n2', 'SIGKILL')
    rmSync(dataDir, { recursive: true })
    renameSync(`${dataDir}-kept`, dataDir)
    cluster.startJoining('n2')
    const again = await desk.join('n2')
    t.match(
      await desk.ask('n2'),
      { operationId: again.operationId, type: 'join' },
      'a repeated request is one operation',
    )
    await until('n2 serves', () => cluster.ready('n2'))
    t.equal(placed(await membershipAt(cluster, 'n1')), 'n1 active voter, n2 active voter')
    t.match(await desk.ask('n2'), { noop: true })
  })
  await t.test('a start that is refused leaves the directory unchanged', async (t) => {
    cluster.startJoining('n3')
    await until('n3 waits', () => desk.log('n3').includes('waits to be added'))
    await cluster.signal('n3', 'SIGKILL')
    const { dataDir } = cluster.node('n3')
    rmSync(dataDir, { recursive: true })
    mkdirSync(dataDir, { mode: 0o700 })
    const taken = cluster.node('n1').peerAddress
    desk.set('n3', 'listeners', { peer: taken })
    desk.set('n3', 'cluster', { id: 'a-mistyped-cluster' })
    cluster.startNode('n3', ['--join'])
    t.match(await desk.refused('n3'), /already in use/)
    t.same(desk.files('n3'), [], 'the directory is empty')
    await t.test('and a directory with a foreign file refuses to join', async (t) => {
      writeFileSync(`${dataDir}/stray.db`, 'of somebody')
      cluster.startJoining('n3')
      const error = await desk.refused('n3')
      t.match(error, /Cannot join: .* is not empty, it holds 'stray\.db'/)
      t.match(error, /move these files elsewhere, or set node\.data_dir to an empty one/)
      t.same(desk.files('n3'), ['stray.db'])
      rmSync(`${dataDir}/stray.db`)
    })
    cluster.startJoining('n3')
    const { operationId } = await desk.join('n3')
    await until('n3 serves', () => cluster.ready('n3'))
    t.match(await desk.operation(operationId), { status: 'succeeded' })
  })

  await t.test('a joining node with another master key: its printed remedy is enough', async (t) => {
    const right = (parse(readFileSync(cluster.node('n1').configFile, 'utf8')) as Settings).security
    const wrong = `${cluster.node('n4').dataDir}.key`
    await MasterKey.create(wrong)
    cluster.writeJoining('n4')
    desk.set('n4', 'security', { master_key_file: wrong })
    cluster.startNode('n4', ['--join'])
    const { operationId } = await desk.join('n4')
    const error = await desk.refused('n4')
    const hint =
      'Give security.master_key_file the same file that the other nodes have, and start this node again'
    t.match(error, hint)
    desk.set('n4', 'security', right)
    const line = new CommandLine({ cwd: cluster.plan[0]?.dataDir ?? '', env: {} })
    const { stdout } = await line.run(['doctor', '--config', cluster.node('n4').configFile, '--json'])
    t.notMatch(stdout, /wrong_fingerprint/, 'the doctor accepts the remedy')
    cluster.startNode('n4', ['--join'])
    await until('n4 serves', () => cluster.ready('n4'))
    t.match(await desk.operation(operationId), { status: 'succeeded' }, 'the started join continues')
  })

  await t.test('the status without a majority names the missing members', async (t) => {
    await cluster.signal('n3', 'SIGKILL')
    await cluster.signal('n4', 'SIGKILL')
    const env = {
      HOLDFAST_ADMIN_ENDPOINT: cluster.node('n1').adminUrl,
      HOLDFAST_ADMIN_TOKEN: cluster.setup.ownerToken,
    }
    const line = new CommandLine({ cwd: cluster.plan[0]?.dataDir ?? '', env })
    await until('the remaining two see no leader', async () => {
      const { status, stdout, stderr } = await line.run(['cluster', 'status'])
      if (status !== 4 || !/Bring back 1 of n3, n4/.test(stderr)) return false
      t.match(stderr, /2 of 4 voters are in contact with this node, and 3 are needed/)
      t.match(stdout, /no leader/)
      t.match(stdout, /n2 +active +voter +contact \d+ s ago/)
      return true
    })
    const { status, stderr } = await line.run(['cluster', 'status', '--json'])
    t.match([status, stderr], [4, /no_leader|no_quorum/], 'a program gets the refusal')
  })
})
