/**
 * Nodes that come back although they have left, or with another disk than theirs: each is told 410 and says so itself, now and after a
 * restart; none of them campaigns, and nobody who writes meanwhile notices.
 *
 * A machine under load may let a member in good standing miss its leader's heartbeats and campaign. So the claim is not that no term
 * rises: it is read from the log of each process that came back that it was never a candidate, and only candidates raise a term.
 */
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { identityHeaders } from '../../cluster/transport/peer-identity.ts'
import { until } from '../helpers/async.ts'
import { CommandLine } from '../helpers/command-line.ts'
import { changeMembers, MANY_ADMIN_REQUESTS, membershipAt, untilAllowed } from '../helpers/member-steps.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { ask } from '../transport/raw-peer.ts'

const reason = 'tests'
const WRITE_EVERY_MS = 100

/** An answer that is given while nobody leads: nothing happened, and the client is asked to come again. */
const LEADERLESS = /^n\d: 503 .*"code":"(no_leader|no_quorum|leader_not_ready|commit_unknown)"/

/** Writes and reads back without pause; what was not answered well is remembered. */
class Client {
  readonly lost: string[] = []
  requests = 0
  #isStopped = false
  readonly #done: Promise<void>
  constructor(cluster: ProcessCluster, at: readonly string[]) {
    this.#done = this.#run(cluster, at)
  }

  async #run(cluster: ProcessCluster, at: readonly string[]): Promise<void> {
    for (; !this.#isStopped; this.requests++) {
      const node = at[this.requests % at.length] ?? 'n1'
      const put = { method: 'PUT', path: `/buckets/steady/objects/o${this.requests % 50}` } as const
      const body = Buffer.alloc(this.requests % 3 === 0 ? 100 : 70_000, `${this.requests} `)
      const answer = await cluster.ask(node, { ...put, body }).catch((error: Error) => error)
      if (answer instanceof Error) this.lost.push(`${node}: ${answer.message}`)
      else if (answer.status !== 200) this.lost.push(`${node}: ${answer.status} ${answer.body.toString()}`)
      await wait(WRITE_EVERY_MS)
    }
  }

  async stop(): Promise<readonly string[]> {
    this.#isStopped = true
    await this.#done
    return this.lost
  }
}

class Ward {
  readonly cluster: ProcessCluster
  /** Where the log of each process that came back begins: the length of the file then. */
  #lives: { readonly nodeId: string; readonly from: number; to: number | null }[] = []
  constructor(cluster: ProcessCluster) {
    this.cluster = cluster
  }

  /** As one that nobody is to hear: from now on, and until it ends, it is never a candidate. */
  comesBack(nodeId: string, start: () => void): void {
    this.#lives.push({ nodeId, from: this.#text(nodeId).length, to: null })
    start()
  }

  async end(nodeId: string): Promise<void> {
    await this.cluster.signal(nodeId, 'SIGTERM')
    this.inGoodStanding(nodeId)
  }

  /** What it does from now on is its right, or another process does it. */
  inGoodStanding(nodeId: string): void {
    for (const life of this.#lives.filter((one) => one.nodeId === nodeId))
      life.to ??= this.#text(nodeId).length
  }

  /** It is a member as any other. */
  forget(nodeId: string): void {
    this.#lives = this.#lives.filter((life) => life.nodeId !== nodeId)
  }

  /** In which terms those that came back have asked for votes. */
  get candidacies(): readonly { readonly nodeId: string; readonly term: number }[] {
    return this.#lives.flatMap(({ nodeId, from, to }) => {
      const lines = this.#text(nodeId)
        .slice(from, to ?? undefined)
        .split('\n')
      const asked = lines.filter((line) => /"role":"(candidate|leader)"/.test(line))
      return asked.map((line) => ({ nodeId, term: (JSON.parse(line) as { readonly term: number }).term }))
    })
  }

  #text(nodeId: string): string {
    return readFileSync(this.cluster.node(nodeId).logFile, 'latin1')
  }

  dir(nodeId: string): string {
    return this.cluster.node(nodeId).dataDir
  }

  /** So that what the test stops is not the leader. */
  async lead(nodeId: string): Promise<void> {
    const body = { nodeId, reason }
    await until(`${nodeId} leads`, async () => {
      await this.cluster.admin(nodeId, { method: 'POST', path: '/cluster/leader/transfer', body })
      return (await this.cluster.leader()) === nodeId
    })
  }

  /** Restarted, and registered as this process: it has proposed something. */
  async again(nodeId: string): Promise<void> {
    const { cluster } = this
    if (cluster.isRunning(nodeId)) await cluster.signal(nodeId, 'SIGTERM')
    cluster.startNode(nodeId)
    await until(`${nodeId} is ready`, () => cluster.ready(nodeId))
    await until(`${nodeId} writes`, async () => {
      const put = cluster.call(nodeId, 'PUT', '/buckets/steady/objects/again', Buffer.from(nodeId))
      return (await put.catch(() => ({ status: 0 }))).status === 200
    })
  }

  /** What it wrote into its log since its last start. */
  #log(nodeId: string): string {
    const text = this.#text(nodeId)
    return text.slice(text.lastIndexOf('"msg":"stopped"'))
  }

  async term(at: string): Promise<number | undefined> {
    return this.cluster.metric(at, 'holdfast_raft_term')
  }

  /** As a member would meet it at the peer port of n1, with the identity of this directory. */
  async peerPort(nodeId: string): Promise<unknown> {
    const text = readFileSync(`${this.dir(nodeId)}/identity.json`, 'utf8')
    const identity = JSON.parse(text) as {
      clusterId: string
      nodeId: string
      incarnation: string
      boot: number
      before: readonly number[]
    }
    const { boot, before } = identity
    const standing = { boot, before, recoveryEpoch: 0, featureLevel: 1, stateLevel: 1 }
    const headers = identityHeaders(identity, standing, 'n1')
    return ask(this.cluster.node('n1').peerAddress, { path: '/peer/v1/state.checksums', headers })
  }

  /** It is told, says so everywhere, and does not campaign. */
  async isTold(t: Test, nodeId: string, code: string): Promise<void> {
    const { cluster } = this
    const says =
      { member_removed: 'removed', member_tombstoned: 'Another data directory' }[code] ?? 'older copy'
    const isSaid = async (): Promise<boolean> =>
      (await cluster.unreadiness(nodeId))?.includes(says) === true && this.#hasLogged(nodeId, code)
    await until(`${nodeId} says ${code}`, isSaid)
    t.match(await this.peerPort(nodeId), { status: 410, header: { code } }, `${nodeId}: 410 ${code}`)
    const local = { method: 'GET', path: '/cluster/membership?consistency=local' } as const
    const asked = await cluster.admin(nodeId, local)
    if (asked.status === 200) t.match(asked.body.toString(), says, 'its own view says so')
    if (code !== 'member_removed')
      await until('the members are shown with it', async () => {
        const { members } = await membershipAt(cluster, 'n1')
        const conditions = members.find((member) => member.nodeId === nodeId)?.conditions ?? []
        return conditions.some((one) => one.code === code && one.message.includes(says))
      })
    t.ok(cluster.isRunning(nodeId), 'a manager of processes is not made to start it for ever')
    t.ok(existsSync(`${this.dir(nodeId)}/identity.json`), 'what it holds is left')
  }

  /** Of what it was told: it knows it at once, and is not heard for having been started once more. */
  async isToldAgain(t: Test, nodeId: string, code: string): Promise<void> {
    await this.end(nodeId)
    this.comesBack(nodeId, () => this.cluster.startNode(nodeId))
    const says = 'this data directory has left'
    await until(`${nodeId} says ${code} again`, () => this.#log(nodeId).includes(says))
    t.match(this.#log(nodeId), `"code":"${code}"`, 'without asking anybody')
    await until(`${nodeId} listens`, async () => (await this.cluster.unreadiness(nodeId)) !== '')
    t.notOk(await this.cluster.ready(nodeId), 'and it serves nobody')
  }

  /** It would have asked for votes by now, if it were to. */
  hasLookedForLeader(nodeId: string): boolean {
    return this.#log(nodeId).includes('"role":"preCandidate"')
  }

  #hasLogged(nodeId: string, code: string): boolean {
    return this.#text(nodeId).includes(`"code":"${code}"`)
  }
}

async function emptied(t: Test, ward: Ward, nodeId: string, code: string): Promise<void> {
  for (const flags of [[], ['--join']]) {
    await ward.end(nodeId)
    rmSync(ward.dir(nodeId), { recursive: true })
    ward.comesBack(nodeId, () => ward.cluster.startNode(nodeId, flags))
    await ward.isTold(t, nodeId, code)
  }
}

t.test('members that left come back [membership.tombstone]', { timeout: 900_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 5, MANY_ADMIN_REQUESTS)
  const ward = new Ward(cluster)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"steady"}')).status, 201)
  await ward.lead('n1')

  await t.test('a leader that was deposed while it stood still', async (t) => {
    cluster.pause('n1')
    await until('another one leads', async () =>
      ['n2', 'n3', 'n4', 'n5'].includes((await cluster.leader()) ?? ''),
    )
    const put = await cluster.call('n2', 'PUT', '/buckets/steady/objects/meanwhile', Buffer.from('new'))
    t.equal(put.status, 200)
    const term = (await ward.term('n2')) ?? 0
    ward.comesBack('n1', () => cluster.resume('n1'))
    const read = await cluster.call('n1', 'GET', '/buckets/steady/objects/meanwhile')
    t.ok(read.status === 503 || read.body.toString() === 'new', `it answers nothing old: ${read.status}`)
    await until('it follows', async () => {
      return (await cluster.ready('n1')) && (await ward.term('n1')) === (await ward.term('n2'))
    })
    ward.inGoodStanding('n1')
    // Later ones are its right, should a machine under load let it miss the heartbeats of its leader.
    const uncalled = ward.candidacies.filter((candidacy) => candidacy.term <= term)
    t.same(uncalled, [], 'and asked for no votes of a term that had begun without it')
    ward.forget('n1')
    await ward.lead('n1')
  })

  // It is to be called lost: nobody may have heard it for half a minute by then, and the leader must have led for as long.
  await cluster.signal('n5', 'SIGKILL')
  const term = await ward.term('n1')
  const client = new Client(cluster, ['n1', 'n2'])

  await t.test('an older copy of a data directory [membership.rolled-back]', async (t) => {
    await cluster.signal('n4', 'SIGTERM')
    cpSync(ward.dir('n4'), `${ward.dir('n4')}-old`, { recursive: true })
    await ward.again('n4')
    await cluster.signal('n4', 'SIGTERM')
    renameSync(ward.dir('n4'), `${ward.dir('n4')}-right`)
    renameSync(`${ward.dir('n4')}-old`, ward.dir('n4'))
    ward.comesBack('n4', () => cluster.startNode('n4'))
    await ward.isTold(t, 'n4', 'member_rolled_back')
    await ward.isToldAgain(t, 'n4', 'member_rolled_back')
    await until('n4 misses its leader', () => Promise.resolve(ward.hasLookedForLeader('n4')))
  })

  await t.test('an empty disk under the name of a member', async (t) => {
    await emptied(t, ward, 'n4', 'member_tombstoned')
    await ward.end('n4')
    rmSync(ward.dir('n4'), { recursive: true })
    renameSync(`${ward.dir('n4')}-right`, ward.dir('n4'))
    await ward.again('n4')
  })

  await t.test('one that was called lost', async (t) => {
    const lost = { path: '/cluster/voters/n5/lost', body: { reason, confirm: 'n5' } }
    await untilAllowed(cluster, 'n1', lost)
    await changeMembers(cluster, 'n1', lost)
    ward.comesBack('n5', () => cluster.startNode('n5'))
    await ward.isTold(t, 'n5', 'member_removed')
    await ward.end('n5')
  })

  await t.test('one that was removed while it was stopped, and an empty disk in its place', async (t) => {
    await changeMembers(cluster, 'n1', { path: '/cluster/voters/n3/demote', body: { reason } })
    await cluster.signal('n3', 'SIGTERM')
    await changeMembers(cluster, 'n1', {
      path: '/cluster/members/n3/remove',
      body: { reason, confirm: 'n3' },
    })
    ward.comesBack('n3', () => cluster.startNode('n3'))
    await ward.isTold(t, 'n3', 'member_removed')
    await ward.isToldAgain(t, 'n3', 'member_removed')
    const line = new CommandLine({ cwd: cluster.plan[0]?.dataDir ?? '', env: {} })
    const { stdout } = await line.run(['doctor', '--config', cluster.node('n3').configFile, '--json'])
    t.match(stdout, /Node n3 was removed from the cluster, or called lost.*it does not come back/s)
    await emptied(t, ward, 'n3', 'member_removed')
    await ward.end('n3')
  })

  const lost = await client.stop()
  t.same(ward.candidacies, [], 'none of those that came back campaigned')
  // Where a member in good standing did, clients were asked to come again meanwhile, and nothing else.
  const isCalm = (await ward.term('n1')) === term
  const unexcused = isCalm ? lost : lost.filter((answer) => !LEADERLESS.test(answer))
  t.same(unexcused, [], `none of ${client.requests} requests was lost`)

  await t.test('without a majority the own view is left [membership.outage]', async (t) => {
    for (const nodeId of ['n2', 'n4']) await cluster.signal(nodeId, 'SIGKILL')
    const asked = { method: 'GET', path: '/cluster/membership' } as const
    await until('n1 misses its majority', async () => (await cluster.admin('n1', asked)).status === 503)
    const { headers, body } = await cluster.admin('n1', asked)
    t.match(JSON.parse(body.toString()), { code: /^no_(quorum|leader)$/, message: /holdfast recover/ })
    t.match(headers['retry-after'], /^\d+$/)
    const demote = { method: 'POST', path: '/cluster/voters/n2/demote', body: { reason } } as const
    const refused = await cluster.admin('n1', demote)
    t.match(JSON.parse(refused.body.toString()), { status: 503, code: /^no_(quorum|leader)$/ })
    const local = await cluster.admin('n1', { ...asked, path: `${asked.path}?consistency=local` })
    t.match(JSON.parse(local.body.toString()), {
      authoritative: false,
      term: Number,
      committedIndex: Number,
      reasons: [String],
      members: [
        { nodeId: 'n1', role: 'voter', lastContactMs: 0 },
        { nodeId: 'n2', role: 'voter', lastContactMs: Number, reachable: null },
      ],
    })
    await t.rejects(membershipAt(cluster, 'n1'))
  })
})
