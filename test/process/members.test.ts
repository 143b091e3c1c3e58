/**
 * Members that come and go while clients write: one node becomes three, three become two, and a dead voter is replaced.
 *
 * Rule: every acknowledged write is read back at the end from every member.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { collected, until } from '../helpers/async.ts'
import { CommandLine, ended } from '../helpers/command-line.ts'
import {
  changeMembers as change,
  QUICK_MEMBERS,
  membershipAt as membership,
  placed,
  untilAllowed,
} from '../helpers/member-steps.ts'
import { ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'

const WRITE_EVERY_MS = 25
/** Six chunks: far more than sockets hold for a client that does not read. */
const LARGE_BYTES = 24 * 1024 * 1024

/** Writes one object after the other until it is stopped; only acknowledged writes are remembered. */
class Writer {
  readonly acknowledged = new Map<string, string>()
  #isStopped = false
  readonly #done: Promise<void>
  constructor(cluster: ProcessCluster, at: readonly string[]) {
    this.#done = this.#run(cluster, at)
  }

  async #run(cluster: ProcessCluster, at: readonly string[]): Promise<void> {
    for (let n = 0; !this.#isStopped; n++) {
      const bytes = Buffer.alloc(n % 3 === 0 ? 100 : 90_000, `${n} `)
      const node = at[n % at.length] ?? 'n1'
      const put = { method: 'PUT', path: `/buckets/walk/objects/o${n}`, body: bytes } as const
      const answer = await cluster.ask(node, put).catch(() => null)
      if (answer !== null && answer.status < 300) this.acknowledged.set(`o${n}`, sha256(bytes))
      // A rate at which all writes can be read back at the end.
      await wait(WRITE_EVERY_MS)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }
}

async function readBack(t: Test, cluster: ProcessCluster, at: string, written: ReadonlyMap<string, string>) {
  const wrong: string[] = []
  for (const [name, digest] of written) {
    const { status, body } = await cluster.call(at, 'GET', `/buckets/walk/objects/${name}`)
    if (status !== 200 || sha256(body) !== digest) wrong.push(`${name}: ${status}`)
  }
  t.same(wrong, [], `${at} has all ${written.size} that were acknowledged`)
}

function commandLine(t: Parameters<typeof temporaryFolder>[0], cluster: ProcessCluster): CommandLine {
  return new CommandLine({
    cwd: temporaryFolder(t),
    env: {
      HOLDFAST_ADMIN_ENDPOINT: cluster.node('n1').adminUrl,
      HOLDFAST_ADMIN_TOKEN: cluster.setup.ownerToken,
    },
  })
}

t.test(
  'members come and go while clients write [membership.join] [membership.replace]',
  { timeout: 1_800_000 },
  async (t) => {
    const cluster = await ProcessCluster.start(t, 1, QUICK_MEMBERS, { spares: 3 })
    await cluster.login('n1')
    t.equal((await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'walk' }))).status, 201)
    const joining = (nodeId: string) => {
      const { peerAddress } = cluster.node(nodeId)
      return { nodeId, peerAddress }
    }
    const writer = new Writer(cluster, ['n1'])

    const line = commandLine(t, cluster)
    const takeIn = async (nodeId: string): Promise<void> => {
      cluster.startJoining(nodeId)
      const join = { path: '/cluster/voters', body: { ...joining(nodeId), reason: 'more copies' } }
      await untilAllowed(cluster, 'n1', join)
      await change(cluster, 'n1', join)
      await until(`${nodeId} serves`, () => cluster.ready(nodeId))
    }

    await t.test('one becomes three', async (t) => {
      await takeIn('n2')
      await t.test('Ctrl-C ends a waiting command, and not its operation', async (t) => {
        cluster.startJoining('n3')
        const { peerAddress } = cluster.node('n3')
        const asking = ['cluster', 'join', 'n3', '--peer', peerAddress, '--reason', 'more copies']
        await until('n3 waits', async () => (await line.run([...asking, '--dry-run'])).status === 0)
        const child = line.start([...asking, '--wait'])
        let reported = ''
        child.stderr?.on('data', (piece) => (reported += String(piece)))
        const over = ended(child)
        let operationId: string | null = null
        await until('the operation has started', async () => {
          operationId = (await membership(cluster, 'n1')).changeInProgress
          return operationId !== null
        })
        child.kill('SIGINT')
        t.equal(await over, 1)
        t.match(
          reported,
          /n3 waits at .*: version .*\nIt has no certificate: the nodes communicate without TLS\./,
        )
        t.match(
          reported,
          `The operation continues; follow it with holdfast cluster operations watch ${operationId}`,
        )
        t.notMatch(reported, '\u001b', 'no control characters without a terminal')
        const [seen] = await line.json(['cluster', 'operations', 'watch', String(operationId)])
        t.match(seen, { operationId, type: 'join', status: 'succeeded' })
        const [again] = await line.json([...asking, '--wait'])
        t.match(again, { noop: true, nodeId: 'n3' })
        await until('n3 serves', () => cluster.ready('n3'))
      })
      const seen = await membership(cluster, 'n3')
      t.equal(placed(seen), 'n1 active voter, n2 active voter, n3 active voter')
      t.equal(seen.failureTolerance, 1)
    })

    await t.test('a voter that dies is replaced by a new one', async (t) => {
      await cluster.signal('n3', 'SIGKILL')
      cluster.startJoining('n4')
      const body = { replacement: joining('n4'), reason: 'n3 is dead', confirm: 'n3' }
      const replace = { path: '/cluster/voters/n3/replace', body }
      await untilAllowed(cluster, 'n2', replace)
      await change(cluster, 'n2', replace)
      const seen = await membership(cluster, 'n4')
      t.equal(placed(seen), 'n1 active voter, n2 active voter, n4 active voter')
      t.same(
        seen.departed.map(({ nodeId, how }) => `${nodeId} ${how}`),
        ['n3 removed'],
      )
      cluster.startNode('n3')
      await until('n3 is notified that it left', async () => {
        const { status } = await cluster
          .admin('n3', { method: 'GET', path: '/cluster/membership' })
          .catch(() => ({
            status: 0,
          }))
        return status === 503
      })
      t.notOk(await cluster.ready('n3'), 'and it serves no client')
      await cluster.signal('n3', 'SIGTERM')
    })

    await t.test('three become two, and a download at the one that leaves ends well', async (t) => {
      const [path, large] = ['/buckets/walk/objects/large', randomBytes(LARGE_BYTES)]
      t.equal((await cluster.call('n1', 'PUT', path, large)).status, 200)
      await change(cluster, 'n1', { path: '/cluster/voters/n2/demote', body: { reason: 'its disk is worn' } })
      const download = await cluster.open('n2', path)
      const body = { reason: 'it is empty', confirm: 'n2' }
      const removal = change(cluster, 'n1', { path: '/cluster/members/n2/remove', body })
      await until('the removal waits for the download, or the others refuse n2', async () => {
        const { body: seen } = await cluster.admin('n1', { method: 'GET', path: '/cluster/operations' })
        if (seen.toString().includes('"phase":"waiting for its downloads"')) return true
        return (await cluster.unreadiness('n2'))?.includes('removed from the cluster') === true
      })
      t.equal(sha256(Buffer.concat(await collected<Buffer>(download))), sha256(large))
      await removal
      const seen = await membership(cluster, 'n4')
      t.equal(placed(seen), 'n1 active voter, n4 active voter')
    })

    await t.test(
      'a member that joined starts again without --join, and with the address of only one node',
      async (t) => {
        await cluster.signal('n4', 'SIGTERM')
        cluster.startNode('n4')
        await until('n4 serves again', () => cluster.ready('n4'))
        const asked = { nodeId: 'n4', reason: 'n1 is patched next' }
        const { status } = await cluster.admin('n1', {
          method: 'POST',
          path: '/cluster/leader/transfer',
          body: asked,
        })
        t.equal(status, 200)
        await until('n4 leads', async () => (await cluster.leader()) === 'n4')
      },
    )

    await writer.stop()
    t.ok(writer.acknowledged.size > 10, `${writer.acknowledged.size} objects were acknowledged`)
    for (const at of ['n1', 'n4']) await readBack(t, cluster, at, writer.acknowledged)
  },
)
