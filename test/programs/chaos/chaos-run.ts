/**
 * One run: hosts, load, strikes one after the other, healing, final checks.
 *
 * Owns: the order. Knows nothing of: faults in detail, the check of answers.
 * Rule: every strike is healed and every node ready again before the next; all waits have a bound.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../helpers/async.ts'
import { ProcessCluster } from '../../helpers/process-cluster.ts'
import { Random } from '../simulator/random.ts'
import { type ChaosReport, reportOf } from './chaos-report.ts'
import { type Evidence, judge } from './final-checks.ts'
import { Hosts } from './hosts-site.ts'
import { PlainLedgerClient } from './ledger-client.ts'
import { type Load, startLoad } from './load.ts'
import { type Excuse, isExplained, isRemovalNotice, isOfRollBack } from './log-alarms.ts'
import { chosen, type Fault, type Ground, NEMESES } from './nemeses.ts'
import { Operator } from './operator.ts'
import type { ChaosOptions } from './options.ts'
import type { Struck } from './outages.ts'
import { logFaults, removedNodeFaults } from './removed-node-checks.ts'
import { startSecondSite } from './second-site.ts'
import { BackgroundWork } from './background-work.ts'
import { type Strike, strikes } from './strikes.ts'
import { Turnover } from './turnover.ts'
import { adminOf, owesNoCopyWithin } from './owed-copies.ts'

const LEDGER_CLIENTS = 3
/** From the first step of a strike until its fault is there. */
const STRIKE_MS_MAX = 180_000
const READY_MS_MAX = 180_000
/**
 * A change of members continues during all the strikes that delay it, and for this long after them. A node that starts counts the silence of
 * the others from its start, so strikes without end can hold up a member that is to be declared lost.
 */
const CHANGE_MS_MAX = 8 * 60_000
/** A strike that needs a whole cluster waits so long for one. */
const WHOLE_MS_MAX = 20_000
const POLL_MS = 100
/** Far less than the lifetime of a token. */
const TOKEN_MS = 20 * 60_000

export async function runChaos(options: ChaosOptions, say: (line: string) => void): Promise<ChaosReport> {
  const { seed, nodes, seconds, nemeses } = options
  say(`seed ${seed}: ${nodes} hosts, ${seconds} s of ${nemeses.join(', ')}`)
  const hosts = new Hosts()
  const cluster = await ProcessCluster.startAt({ teardown: () => undefined }, await hosts.site(nodes))
  await cluster.login('n1')
  const load = await startLoad(cluster, {
    seed,
    seconds,
    ledgerClients: LEDGER_CLIENTS,
    restMs: 0,
    requester: (_, random, ledger) =>
      new PlainLedgerClient(cluster, random, (code) => ledger.hasFailed(code)),
  })
  const background = await startBackground(cluster, { seed, say })
  const changeMsMax = seconds * 1000 + CHANGE_MS_MAX
  const run = new ChaosRun({ cluster, hosts, load, changeMsMax, say })
  await run.strikeFor(options).catch((error: unknown) => {
    say(`no more faults: ${String(error)}`)
    run.mishaps.push(`no more faults: ${String(error)}`)
  })
  await hosts.network.heal()
  await run.turnover.finish()
  await load.stop()
  await background.stop()
  say('faults end, judging')
  const { struck, isExpected } = run
  const mishaps = [...run.mishaps, ...run.turnover.mishaps]
  const admin = adminOf(cluster)
  const isWhole = (): Promise<boolean> => owesNoCopyWithin(cluster, READY_MS_MAX)
  const verdicts = await judge({
    ...load,
    cluster,
    admin,
    mishaps,
    isExpected,
    isWhole,
    claims: background.claims(),
  })
  await admin.close()
  return reportOf({ options, struck, ...load, verdicts })
}

async function startBackground(
  cluster: ProcessCluster,
  { seed, say }: Pick<ChaosOptions, 'seed'> & Pick<RunParts, 'say'>,
): Promise<BackgroundWork> {
  const site = await startSecondSite()
  const random = new Random(seed, 'background work')
  const client = new PlainLedgerClient(cluster, random, () => undefined)
  const background = new BackgroundWork({ cluster, site, client, random, say })
  await background.start()
  return background
}

function excusesOf(struck: readonly Struck[], nodeId: string): readonly Excuse[] {
  const own = struck.filter(({ excused }) => excused.includes(nodeId))
  return own.map(({ at, readyAt }) => ({
    since: performance.timeOrigin + at,
    until: performance.timeOrigin + readyAt,
  }))
}

async function tooLong(what: string): Promise<never> {
  await wait(STRIKE_MS_MAX, null, { ref: false })
  throw new Error(`${what} is not made within ${STRIKE_MS_MAX / 1000} s`)
}

interface RunParts {
  readonly cluster: ProcessCluster
  readonly hosts: Hosts
  readonly load: Load
  readonly changeMsMax: number
  readonly say: (line: string) => void
}

class ChaosRun {
  readonly struck: Struck[] = []
  readonly mishaps: string[] = []
  readonly turnover: Turnover
  readonly #parts: RunParts
  readonly #ground: Ground
  #loggedInAt = performance.now()

  constructor(parts: RunParts) {
    const { cluster, hosts } = parts
    this.#parts = parts
    this.turnover = new Turnover({ ...parts, ...parts.load, look: (nodeId) => this.#removalNotice(nodeId) })
    this.#ground = {
      cluster,
      network: hosts.network,
      disks: hosts.disks,
      heaps: hosts.heaps,
      diskOf: (nodeId) => hosts.diskOf(nodeId),
      anyMember: (choice) => chosen(cluster.plan, choice).nodeId,
      operator: new Operator(cluster, hosts, parts.changeMsMax),
      changes: this.turnover,
      leader: () => this.#leader(),
      isWhole: () => owesNoCopyWithin(cluster, WHOLE_MS_MAX),
    }
  }

  /** Log lines that are explained by the faults of the node. */
  readonly isExpected: Evidence['isExpected'] = (nodeId, line) => {
    const isMember = this.#parts.cluster.plan.some((node) => node.nodeId === nodeId)
    const wentBack = this.struck.some(({ nemesis }) => nemesis === 'rolled-back')
    const isFollowing = (wentBack && isOfRollBack(line)) || (!isMember && isRemovalNotice(line))
    return isExplained(line, excusesOf(this.struck, nodeId)) || isFollowing
  }

  async strikeFor({ seed, seconds, nemeses, holdSeconds }: ChaosOptions): Promise<void> {
    const end = performance.now() + seconds * 1000
    for (const strike of strikes(new Random(seed, 'strikes'), nemeses)) {
      if (performance.now() >= end) return
      const lengthMs = holdSeconds === null ? strike.lengthMs : holdSeconds * 1000
      await this.#strike({ ...strike, lengthMs })
      await this.turnover.settle()
      await wait(strike.restMs)
      if (performance.now() - this.#loggedInAt > TOKEN_MS) await this.#logIn()
    }
  }

  async #strike(strike: Strike): Promise<void> {
    const { say } = this.#parts
    const at = performance.now()
    const fault = await Promise.race([
      NEMESES[strike.nemesis](this.#ground, strike),
      tooLong(`The strike ${strike.nemesis}`),
    ])
    say(`${strike.nemesis}: ${fault.what}, for ${strike.lengthMs} ms`)
    await wait(strike.lengthMs)
    await fault.heal()
    const healedAt = performance.now()
    await this.#allReady(fault)
    const { excused = [], what } = fault
    this.struck.push({ nemesis: strike.nemesis, what, at, healedAt, readyAt: performance.now(), excused })
  }

  async #allReady(fault: Fault): Promise<void> {
    const giveUpAt = performance.now() + READY_MS_MAX
    for (let why = await this.#notReady(fault); why !== null; why = await this.#notReady(fault)) {
      if (performance.now() > giveUpAt)
        throw new Error(`Not ready ${READY_MS_MAX / 1000} s after: ${fault.what}: ${why}`)
      await wait(POLL_MS)
    }
  }

  /** The members change meanwhile. Every node is checked: the others may wait for one that has ended. */
  async #notReady(fault: Fault): Promise<string | null> {
    const reasons: string[] = []
    for (const { nodeId } of this.#parts.cluster.plan) {
      const why = await this.#tend(nodeId, fault)
      if (why !== null) reasons.push(`${nodeId}: ${why}`)
    }
    return reasons.length === 0 ? null : reasons.join('; ')
  }

  async #removalNotice(nodeId: string): Promise<readonly string[]> {
    const { cluster, load } = this.#parts
    const [key = ''] = load.ledger.stored.keys()
    return [
      ...(await removedNodeFaults(cluster, nodeId, key)),
      ...logFaults({ cluster, isExpected: this.isExpected }, nodeId),
    ]
  }

  /** The operator: restarts nodes that have ended or request it. Only nodes with a full disk may need that. */
  async #tend(nodeId: string, { excused = [], what }: Fault): Promise<string | null> {
    const { cluster, say } = this.#parts
    const why = await cluster.unreadiness(nodeId)
    const hasEnded = !cluster.isRunning(nodeId)
    if (!hasEnded && why?.includes('start this node again') !== true) return why
    say(`${nodeId} ${hasEnded ? 'has ended' : 'asks to be started again'}`)
    if (!excused.includes(nodeId)) this.mishaps.push(`${nodeId} had to be started again after: ${what}`)
    if (!hasEnded) await cluster.signal(nodeId, 'SIGTERM')
    cluster.startNode(nodeId)
    return why ?? ''
  }

  async #leader(): Promise<string> {
    const { cluster } = this.#parts
    let leader: string | undefined
    await until('a member leads', async () => {
      leader = await cluster.leader()
      return cluster.plan.some(({ nodeId }) => nodeId === leader)
    })
    return leader ?? ''
  }

  async #logIn(): Promise<void> {
    const { cluster } = this.#parts
    await until('there is a token', () =>
      cluster.login(cluster.plan[0]?.nodeId ?? '').then(
        () => true,
        () => false,
      ),
    )
    this.#loggedInAt = performance.now()
  }
}
