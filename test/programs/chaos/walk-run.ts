/**
 * The walk: one host becomes three, three become five, the leader dies and is replaced, five become three, all under a load that does not
 * change.
 *
 * Owns: the steps and their order. Knows nothing of: changes of members in detail, the check of answers.
 * Rules: a removed node keeps running with its data, and clients of registers use it as before. No request may fail but those that were under
 * way when a node was killed: a request is one call of the client for programs, with the attempts that this makes by itself.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../helpers/async.ts'
import { ProcessCluster } from '../../helpers/process-cluster.ts'
import { type ChaosReport, reportOf } from './chaos-report.ts'
import { HttpLedgerClient } from './http-ledger-client.ts'
import { judge } from './final-checks.ts'
import { Hosts } from './hosts-site.ts'
import { type Load, startLoad } from './load.ts'
import { isRemovalNotice } from './log-alarms.ts'
import { Operator } from './operator.ts'
import type { ChaosOptions } from './options.ts'
import type { Struck } from './outages.ts'
import { type Kill, requestVerdict } from './request-verdict.ts'
import { adminOf, owesNoCopyWithin } from './owed-copies.ts'

const LEDGER_CLIENTS = 6
/** Low, so that machines with few cores have time for the steps. */
const CLIENT_REST_MS = 200
/** The walk takes about so long, for the number of registers. */
const SECONDS = 90
const WHOLE_MS_MAX = 180_000
/** Ten seconds of keeping up among them. */
const STEP_MS_MAX = 180_000
/** Between two steps. */
const REST_MS = 500

export async function runWalk(options: ChaosOptions, say: (line: string) => void): Promise<ChaosReport> {
  const { seed } = options
  say(`seed ${seed}: a walk, 1 host to 3, to 5, one killed and replaced, and to 3`)
  const hosts = new Hosts()
  const cluster = await ProcessCluster.startAt({ teardown: () => undefined }, await hosts.site(1))
  await cluster.login('n1')
  const { accessKeyId, secretKey } = cluster.setup
  const clients: HttpLedgerClient[] = []
  const load = await startLoad(cluster, {
    seed,
    seconds: SECONDS,
    ledgerClients: LEDGER_CLIENTS,
    restMs: CLIENT_REST_MS,
    requester: (client) => {
      const credentials = { accessKeyId: accessKeyId ?? '', secretKey: secretKey ?? '' }
      const requester = new HttpLedgerClient(() => membersFrom(cluster, client), credentials)
      clients.push(requester)
      return requester
    },
  })
  const walk = new Walk({ cluster, operator: new Operator(cluster, hosts, STEP_MS_MAX), load, say })
  const startedAt = performance.now()
  await walk.go().catch((error: unknown) => walk.mishaps.push(`the walk ends here: ${String(error)}`))
  await load.stop()
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  say('the walk is done, judging')
  const failed = clients.flatMap((requester) => requester.failed)
  const admin = adminOf(cluster)
  const verdicts = await judge({
    ...load,
    cluster,
    admin,
    mishaps: walk.mishaps,
    isExpected: (nodeId, line) => isRemovalNotice(line) && cluster.gone.some((one) => one.nodeId === nodeId),
    isWhole: () => owesNoCopyWithin(cluster, WHOLE_MS_MAX),
  })
  await admin.close()
  verdicts.unshift(requestVerdict(failed, walk.kills))
  const nodes = cluster.plan.length + cluster.gone.length
  const ran = { ...options, nodes, seconds }
  return reportOf({ options: ran, struck: walk.struck, ...load, verdicts })
}

/** All, beginning with the one that is this client's own. */
function membersFrom({ plan }: ProcessCluster, client: number): readonly string[] {
  const at = client % plan.length
  return [...plan.slice(at), ...plan.slice(0, at)].map(({ dataUrl }) => dataUrl)
}

interface WalkParts {
  readonly cluster: ProcessCluster
  readonly operator: Operator
  readonly load: Load
  readonly say: (line: string) => void
}

class Walk {
  readonly struck: Struck[] = []
  readonly mishaps: string[] = []
  readonly kills: Kill[] = []
  readonly #parts: WalkParts

  constructor(parts: WalkParts) {
    this.#parts = parts
  }

  async go(): Promise<void> {
    const { operator } = this.#parts
    operator.prepare(4)
    for (const size of [2, 3]) await this.#join(size)
    await this.#step('rebalance', 'the copies of one node become three', () =>
      operator.rebalance('three nodes'),
    )
    for (const size of [4, 5]) await this.#join(size)
    operator.prepare(1)
    const last = this.#parts.cluster.plan.at(-1)?.nodeId ?? ''
    await this.#step('restart', `stop ${last} in order and start it again`, () => this.#restart(last))
    await this.#step('transfer', `${last} leads`, () => operator.transfer(last, 'it has the best machine'))
    await this.#step('kill', `kill ${last}, which leads`, () => this.#kill(last))
    await this.#step('replace', `another one in the place of ${last}`, async () => {
      this.#parts.load.registers.startAt(await operator.replace(last, 'its machine burned'))
    })
    this.#parts.cluster.startNode(last)
    for (const leavingNode of ['n1', 'n2']) {
      await this.#step('demote', `take the vote of ${leavingNode}`, () =>
        operator.demote(leavingNode, 'it is old'),
      )
      await this.#step('remove', `remove ${leavingNode}`, () => operator.remove(leavingNode, 'it is empty'))
    }
  }

  async #join(size: number): Promise<void> {
    const { operator, load } = this.#parts
    await this.#step('join', `${size - 1} become ${size}`, async () =>
      load.registers.startAt(await operator.join('more room')),
    )
  }

  async #step(name: string, what: string, take: () => Promise<void>): Promise<void> {
    const at = performance.now()
    this.#parts.say(what)
    await take()
    const now = performance.now()
    this.struck.push({ nemesis: name, what, at, healedAt: now, readyAt: now, excused: [] })
    await wait(REST_MS)
  }

  async #restart(nodeId: string): Promise<void> {
    const { cluster } = this.#parts
    const code = await cluster.signal(nodeId, 'SIGTERM')
    if (code !== 0) this.mishaps.push(`${nodeId} ended with ${code} after SIGTERM`)
    cluster.startNode(nodeId)
    await until(`${nodeId} serves again`, () => cluster.ready(nodeId))
  }

  async #kill(nodeId: string): Promise<void> {
    const { cluster } = this.#parts
    const at = performance.now()
    await cluster.signal(nodeId, 'SIGKILL')
    this.kills.push({ at, doneAt: performance.now() })
    await until('somebody else leads', async () => (await cluster.leader()) !== undefined)
  }
}
