/**
 * Nodes that come back after they left, or with another disk than theirs: each is refused with 410 and reports it, now and after a
 * restart; none of them campaigns, and no writer notices.
 *
 * On a loaded machine a healthy member may miss heartbeats of its leader and campaign. So the claim is not that no term
 * rises: the log of each returning process shows that it was never a candidate, and only candidates raise a term.
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

/** An answer without a leader: nothing happened, and the client may retry. */
const LEADERLESS = /^n\d: 503 .*"code":"(no_leader|no_quorum|leader_not_ready|commit_unknown)"/

/** Writes and reads back without pause; unexpected answers are recorded. */
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

class ReturningNodes {
  readonly cluster: ProcessCluster
  /** Where the log of each returning process starts: the length of the file then. */
  #lives: { readonly nodeId: string; readonly from: number; to: number | null }[] = []
  constructor(cluster: ProcessCluster) {
    this.cluster = cluster
  }

  /** Starts a node that no member may accept: until it ends, it must never be a candidate. */
  comesBack(nodeId: string, start: () => void): void {
    this.#lives.push({ nodeId, from: this.#text(nodeId).length, to: null })
    start()
  }

  async end(nodeId: string): Promise<void> {
    await this.cluster.signal(nodeId, 'SIGTERM')
    this.assertHealthy(nodeId)
  }

  /** Later candidacies are allowed, or those of another process. */
  assertHealthy(nodeId: string): void {
    for (const life of this.#lives.filter((one) => one.nodeId === nodeId))
      life.to ??= this.#text(nodeId).length
  }

  /** It is a healthy member. */
  forget(nodeId: string): void {
    this.#lives = this.#lives.filter((life) => life.nodeId !== nodeId)
  }

  /** The terms in which returning nodes requested votes. */
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

  /** Keeps leadership away from the nodes that the test stops. */
  async lead(nodeId: string): Promise<void> {
    const body = { nodeId, reason }
    await until(`${nodeId} leads`, async () => {
      await this.cluster.admin(nodeId, { method: 'POST', path: '/cluster/leader/transfer', body })
      return (await this.cluster.leader()) === nodeId
    })
  }

  /** Restarts it and waits until this process is registered: it has proposed something. */
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

  /** Its log since its last start. */
  #log(nodeId: string): string {
    const text = this.#text(nodeId)
    return text.slice(text.lastIndexOf('"msg":"stopped"'))
  }

  async term(at: string): Promise<number | undefined> {
    return this.cluster.metric(at, 'holdfast_raft_term')
  }

  /** Calls the peer port of n1 with the identity of this directory. */
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
    const peerStatus = { boot, before, recoveryEpoch: 0, featureLevel: 1, stateLevel: 1 }
    const headers = identityHeaders(identity, peerStatus, 'n1')
    return ask(this.cluster.node('n1').peerAddress, { path: '/peer/v1/state.checksums', headers })
  }

  /** It is notified, reports it everywhere, and does not campaign. */
  async isReported(t: Test, nodeId: string, code: string): Promise<void> {
    const { cluster } = this
    const says =
      { member_removed: 'removed', member_tombstoned: 'Another data directory' }[code] ?? 'older copy'
    const isSaid = async (): Promise<boolean> =>
      (await cluster.unreadiness(nodeId))?.includes(says) === true && this.#hasLogged(nodeId, code)
    await until(`${nodeId} says ${code}`, isSaid)
    t.match(await this.peerPort(nodeId), { status: 410, header: { code } }, `${nodeId}: 410 ${code}`)
    const local = { method: 'GET', path: '/cluster/membership?consistency=local' } as const
    const asked = await cluster.admin(nodeId, local)
    if (asked.status === 200) t.match(asked.body.toString(), says, 'its own view reports it')
    if (code !== 'member_removed')
      await until('the member list shows it', async () => {
        const { members } = await membershipAt(cluster, 'n1')
        const conditions = members.find((member) => member.nodeId === nodeId)?.conditions ?? []
        return conditions.some((one) => one.code === code && one.message.includes(says))
      })
    t.ok(cluster.isRunning(nodeId), 'it keeps running, so that a process manager does not restart it forever')
    t.ok(existsSync(`${this.dir(nodeId)}/identity.json`), 'its data is kept')
  }

  /** The refusal survives a restart: the node knows it at once, and another start does not get it accepted. */
  async isReportedAgain(t: Test, nodeId: string, code: string): Promise<void> {
    await this.end(nodeId)
    this.comesBack(nodeId, () => this.cluster.startNode(nodeId))
    const says = 'this data directory has left'
    await until(`${nodeId} says ${code} again`, () => this.#log(nodeId).includes(says))
    t.match(this.#log(nodeId), `"code":"${code}"`, 'without a peer')
    await until(`${nodeId} listens`, async () => (await this.cluster.unreadiness(nodeId)) !== '')
    t.notOk(await this.cluster.ready(nodeId), 'and it serves no client')
  }

  /** By now it would have requested votes. */
  hasLookedForLeader(nodeId: string): boolean {
    return this.#log(nodeId).includes('"role":"preCandidate"')
  }

  #hasLogged(nodeId: string, code: string): boolean {
    return this.#text(nodeId).includes(`"code":"${code}"`)
  }
}

async function emptied(t: Test, returning: ReturningNodes, nodeId: string, code: string): Promise<void> {
  for (const flags of [[], ['--join']]) {
    await returning.end(nodeId)
    rmSync(returning.dir(nodeId), { recursive: true })
    returning.comesBack(nodeId, () => returning.cluster.startNode(nodeId, flags))
    await returning.isReported(t, nodeId, code)
  }
}

t.test('nodes that left come back [membership.tombstone]', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 5, MANY_ADMIN_REQUESTS)
  const returning = new ReturningNodes(cluster)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"steady"}')).status, 201)
  await returning.lead('n1')

  await t.test('a leader that was deposed while it was suspended', async (t) => {
    cluster.pause('n1')
    await until('another one leads', async () =>
      ['n2', 'n3', 'n4', 'n5'].includes((await cluster.leader()) ?? ''),
    )
    const put = await cluster.call('n2', 'PUT', '/buckets/steady/objects/meanwhile', Buffer.from('new'))
    t.equal(put.status, 200)
    const term = (await returning.term('n2')) ?? 0
    returning.comesBack('n1', () => cluster.resume('n1'))
    const read = await cluster.call('n1', 'GET', '/buckets/steady/objects/meanwhile')
    t.ok(read.status === 503 || read.body.toString() === 'new', `it returns no stale value: ${read.status}`)
    await until('it follows', async () => {
      return (await cluster.ready('n1')) && (await returning.term('n1')) === (await returning.term('n2'))
    })
    returning.assertHealthy('n1')
    // Later candidacies are allowed: on a loaded machine it may miss heartbeats of its leader.
    const uncalled = returning.candidacies.filter((candidacy) => candidacy.term <= term)
    t.same(uncalled, [], 'and requested no votes in a term that started without it')
    returning.forget('n1')
    await returning.lead('n1')
  })

  // It will be declared lost: it must have been silent for half a minute by then, and the leader must have led for as long.
  await cluster.signal('n5', 'SIGKILL')
  const term = await returning.term('n1')
  const client = new Client(cluster, ['n1', 'n2'])

  await t.test('an older copy of a data directory [membership.rolled-back]', async (t) => {
    await cluster.signal('n4', 'SIGTERM')
    cpSync(returning.dir('n4'), `${returning.dir('n4')}-old`, { recursive: true })
    await returning.again('n4')
    await cluster.signal('n4', 'SIGTERM')
    renameSync(returning.dir('n4'), `${returning.dir('n4')}-right`)
    renameSync(`${returning.dir('n4')}-old`, returning.dir('n4'))
    returning.comesBack('n4', () => cluster.startNode('n4'))
    await returning.isReported(t, 'n4', 'member_rolled_back')
    await returning.isReportedAgain(t, 'n4', 'member_rolled_back')
    await until('n4 notices that it has no leader', () => Promise.resolve(returning.hasLookedForLeader('n4')))
  })

  await t.test('an empty disk under the name of a member', async (t) => {
    await emptied(t, returning, 'n4', 'member_tombstoned')
    await returning.end('n4')
    rmSync(returning.dir('n4'), { recursive: true })
    renameSync(`${returning.dir('n4')}-right`, returning.dir('n4'))
    await returning.again('n4')
  })

  await t.test('a node that was declared lost', async (t) => {
    const lost = { path: '/cluster/voters/n5/lost', body: { reason, confirm: 'n5' } }
    await untilAllowed(cluster, 'n1', lost)
    await changeMembers(cluster, 'n1', lost)
    returning.comesBack('n5', () => cluster.startNode('n5'))
    await returning.isReported(t, 'n5', 'member_removed')
    await returning.end('n5')
  })

  await t.test('a node that was removed while it was stopped, and an empty disk in its place', async (t) => {
    await changeMembers(cluster, 'n1', { path: '/cluster/voters/n3/demote', body: { reason } })
    await cluster.signal('n3', 'SIGTERM')
    await changeMembers(cluster, 'n1', {
      path: '/cluster/members/n3/remove',
      body: { reason, confirm: 'n3' },
    })
    returning.comesBack('n3', () => cluster.startNode('n3'))
    await returning.isReported(t, 'n3', 'member_removed')
    await returning.isReportedAgain(t, 'n3', 'member_removed')
    const line = new CommandLine({ cwd: cluster.plan[0]?.dataDir ?? '', env: {} })
    const { stdout } = await line.run(['doctor', '--config', cluster.node('n3').configFile, '--json'])
    t.match(stdout, /Node n3 was removed from the cluster, or called lost.*it cannot rejoin/s)
    await emptied(t, returning, 'n3', 'member_removed')
    await returning.end('n3')
  })

  const lost = await client.stop()
  t.same(returning.candidacies, [], 'no returning node campaigned')
  // If a healthy member campaigned, clients got only retryable answers meanwhile.
  const isCalm = (await returning.term('n1')) === term
  const unexcused = isCalm ? lost : lost.filter((answer) => !LEADERLESS.test(answer))
  t.same(unexcused, [], `none of ${client.requests} requests was lost`)

  await t.test('without a majority a node still reports its own view [membership.outage]', async (t) => {
    for (const nodeId of ['n2', 'n4']) await cluster.signal(nodeId, 'SIGKILL')
    const asked = { method: 'GET', path: '/cluster/membership' } as const
    await until('n1 notices the lost majority', async () => (await cluster.admin('n1', asked)).status === 503)
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
