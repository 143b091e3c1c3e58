/**
 * Five nodes, three of them destroyed: the remaining two are brought back with deploy/runbooks/lost-quorum.md.
 *
 * Rule: the unreadable objects afterwards are exactly those named by the plan, and those acknowledged where no survivor received them.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { changeMembers, QUICK_MEMBERS, membershipAt, placed, untilAllowed } from '../helpers/member-steps.ts'
import { ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { RecoverLines } from '../helpers/recover-lines.ts'
import { runCommand } from '../helpers/run-command.ts'

const RUNBOOK = new RecoverLines('lost-quorum.md')
const SURVIVORS = ['n1', 'n2']
const DEAD = ['n3', 'n4', 'n5']
/** Objects of chunks, so many that about one in ten has all three copies on the three nodes that die. */
const OBJECTS = 60
const OBJECT_BYTES = 6_000

interface PlanView {
  readonly plan: {
    readonly planId: string
    readonly decision: {
      readonly winner: string
      readonly mayMissAfter: number | null
      readonly epoch: number
    }
    readonly loss: { readonly versions: number; readonly named: readonly { readonly key: string }[] }
  }
}

t.test(
  'two of five come back [membership.recover.collect] [membership.recover.plan] [membership.recover.apply]',
  { timeout: 1_800_000 },
  async (t) => {
    const cluster = await ProcessCluster.start(t, 5, QUICK_MEMBERS, { spares: 1 })
    const configOf = (nodeId: string): string => cluster.node(nodeId).configFile
    const folderOf = (nodeId: string): string => join(dirname(configOf(nodeId)), nodeId)
    await cluster.login('n1')
    t.equal((await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))).status, 201)
    const written = new Map<string, string>()
    const put = async (at: string, name: string, bytes: Buffer): Promise<void> => {
      const { status } = await cluster.ask(at, {
        method: 'PUT',
        path: `/buckets/kept/objects/${name}`,
        body: bytes,
      })
      if (status >= 300) throw new Error(`${name}: ${status}`)
      written.set(name, sha256(bytes))
    }
    const readable = async (at: string, name: string): Promise<boolean> => {
      const { status, body } = await cluster.call(at, 'GET', `/buckets/kept/objects/${name}`)
      return status === 200 && sha256(body) === written.get(name)
    }
    for (let n = 0; n < OBJECTS; n++)
      await put(`n${(n % 5) + 1}`, `chunked-${n}`, Buffer.alloc(OBJECT_BYTES, `${n} of them `))
    await put('n2', 'inline', Buffer.from('small'))

    // The three continue without the others for a while: a majority that acknowledges writes that no other node receives.
    for (const nodeId of SURVIVORS) await cluster.signal(nodeId, 'SIGKILL')
    await until('the three have a leader', async () => DEAD.includes((await cluster.leader()) ?? ''))
    await until('the three acknowledge without the others', () =>
      put('n3', 'only-on-the-dead', Buffer.from('x')).then(
        () => true,
        () => false,
      ),
    )
    for (const nodeId of DEAD) await cluster.signal(nodeId, 'SIGKILL')
    for (const nodeId of ['n4', 'n5']) rmSync(folderOf(nodeId), { recursive: true })

    const began = Date.now()
    const recoveryFiles = temporaryFolder(t)
    const planFile = join(recoveryFiles, 'plan.json')
    const typed = (nodeId: string, step: string, having?: string): readonly string[] =>
      RUNBOOK.words(step, { config: configOf(nodeId), reports: recoveryFiles, plan: planFile }, having)
    for (const nodeId of SURVIVORS) {
      const { code, err } = await runCommand(...typed(nodeId, 'collect'))
      t.equal(code, 0, err)
    }
    const looking = typed('n1', 'plan')
    const short = await runCommand(
      ...looking.map((word) => (word === DEAD.join() ? 'n3,n4' : word)),
      '--json',
    )
    t.equal(short.code, 3)
    t.match(JSON.parse(short.out), { refusals: [{ code: 'unaccounted_member', message: /^n5 / }] })
    const looked = await runCommand(...looking)
    t.equal(looked.code, 0, looked.err)
    t.notOk(existsSync(planFile), 'nothing is written before the plan is accepted')
    const planned = await runCommand(...typed('n1', 'plan', '--out'), '--json')
    t.equal(planned.code, 0, planned.err)
    const { plan } = JSON.parse(planned.out) as PlanView
    t.ok(plan.decision.mayMissAfter !== null, 'the plan states that acknowledged changes may be missing')
    t.ok(plan.loss.versions > 0, 'some chunks had all their copies on the dead nodes')
    for (const nodeId of [...SURVIVORS, 'n1']) {
      const { code, err } = await runCommand(...typed(nodeId, 'apply'))
      t.equal(code, 0, err)
    }
    for (const nodeId of SURVIVORS) cluster.startNode(nodeId)
    for (const nodeId of SURVIVORS) await until(`${nodeId} serves`, () => cluster.ready(nodeId))
    t.comment(`two of five served again after ${Date.now() - began} ms`)

    await t.test(
      'the unreadable objects are those named by the plan, and those that only the dead nodes had',
      async (t) => {
        await cluster.login('n1')
        const gone: string[] = []
        for (const name of written.keys()) if (!(await readable('n2', name))) gone.push(name)
        const named = plan.loss.named.map(({ key }) => key)
        t.same(gone.toSorted(), [...named, 'only-on-the-dead'].toSorted())
        await put('n2', 'afterwards', Buffer.alloc(OBJECT_BYTES, 'new'))
        t.ok(await readable('n1', 'afterwards'))
      },
    )

    await t.test(
      '[membership.recover.visible] the recovery stays in the membership and the audit log forever',
      async (t) => {
        const seen = await membershipAt(cluster, 'n2')
        t.match(placed(seen), /^n1 active voter, n2 active voter, n3 lost none, n4 lost none, n5 lost none$/)
        const { planId, decision, loss } = plan
        const { winner, epoch, mayMissAfter } = decision
        t.match(seen.recoveries, [
          {
            planId,
            epoch,
            winner,
            mayMissAfter,
            survivors: SURVIVORS,
            dead: DEAD,
            loss: { versions: loss.versions },
          },
        ])
        t.same(
          seen.departed.map(({ nodeId, how }) => `${nodeId} ${how}`),
          ['n3 lost', 'n4 lost', 'n5 lost'],
        )
        const asked = { method: 'GET', path: '/audit?operation=recoverCluster' } as const
        const { status, body } = await cluster.admin('n1', asked)
        t.equal(status, 200, body.toString())
        t.match(body.toString(), planId)
      },
    )

    await t.test(
      '[membership.recover.fenced] a dead node with its old disk is refused, stops, and disturbs nothing',
      async (t) => {
        cluster.startNode('n3')
        await until('n3 stops by itself', () => Promise.resolve(!cluster.isRunning('n3')))
        t.match(readFileSync(cluster.node('n3').logFile, 'utf8'), /stale_epoch|left behind/)
        for (const nodeId of SURVIVORS) t.ok(await cluster.ready(nodeId))
        await put('n1', 'undisturbed', Buffer.from('still here'))
      },
    )

    await t.test('a new node joins the recovered group as the third voter', async (t) => {
      cluster.startJoining('n6')
      const { peerAddress } = cluster.node('n6')
      const join = { path: '/cluster/voters', body: { nodeId: 'n6', peerAddress, reason: 'a third vote' } }
      await untilAllowed(cluster, 'n1', join)
      await changeMembers(cluster, 'n1', join)
      await until('n6 serves', () => cluster.ready('n6'))
      t.ok(await readable('n6', 'afterwards'))
      await cluster.signal('n6', 'SIGKILL')
      cluster.startNode('n6')
      await until('n6 serves after a restart', () => cluster.ready('n6'))
    })

    await t.test(
      '[membership.recover.verify] verify ends with 0 when all possible copies are made',
      async (t) => {
        const { adminUrl } = cluster.node('n1')
        const tokenFile = join(recoveryFiles, 'token')
        writeFileSync(tokenFile, cluster.setup.ownerToken)
        let output = ''
        await until('the cluster is whole', async () => {
          const verify = [
            'recover',
            'verify',
            '--admin-endpoint',
            adminUrl,
            '--token-file',
            tokenFile,
            '--json',
          ]
          const { code, out } = await runCommand(...verify)
          output = out
          return code === 0
        }).catch((cause: unknown) => {
          throw new Error(output, { cause })
        })
        t.match(JSON.parse(output), { ok: true })
      },
    )
  },
)
