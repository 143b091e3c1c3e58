/**
 * One run: hosts, load, strikes one after the other, healing, judgement.
 *
 * Owns: the order. Knows nothing of: how a fault is made, what makes an answer right.
 * Rule: every strike is healed and every node ready again before the next; all waits have a bound.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { Random } from '../sim/random.ts'
import { type ChaosReport, reportOf } from './chaos-report.ts'
import { type Evidence, judge } from './final-checks.ts'
import { Hosts } from './hosts-site.ts'
import { PlainAsker } from './ledger-desk.ts'
import { startLoad } from './load.ts'
import { type Excuse, isExplained } from './log-judge.ts'
import { type Fault, type Ground, NEMESES } from './nemeses.ts'
import type { ChaosOptions } from './options.ts'
import type { Struck } from './outages.ts'
import { type Strike, strikes } from './strikes.ts'
import { adminOf, becomesWhole } from './wholeness.ts'

const LEDGER_CLIENTS = 3
const READY_MS_MAX = 180_000
/** A strike that needs a whole cluster waits so long for one. */
const WHOLE_MS_MAX = 20_000
const POLL_MS = 100
/** Far less than the life of a token. */
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
    asker: (_, random, ledger) => new PlainAsker(cluster, random, (code) => ledger.hasFailed(code)),
  })
  const run = new ChaosRun({ cluster, hosts, say })
  await run.strikeFor(options).catch((error: unknown) => run.mishaps.push(`no more faults: ${String(error)}`))
  await hosts.network.heal()
  await load.stop()
  say('faults end, judging')
  const { struck, mishaps } = run
  const isExpected: Evidence['isExpected'] = (nodeId, line) => isExplained(line, excusesOf(struck, nodeId))
  const admin = adminOf(cluster)
  const isWhole = (): Promise<boolean> => becomesWhole(cluster, READY_MS_MAX)
  const verdicts = await judge({ ...load, cluster, admin, mishaps, isExpected, isWhole })
  await admin.close()
  return reportOf({ options, struck, ...load, verdicts })
}

function excusesOf(struck: readonly Struck[], nodeId: string): readonly Excuse[] {
  const own = struck.filter(({ excused }) => excused === nodeId)
  return own.map(({ at, readyAt }) => ({
    since: performance.timeOrigin + at,
    until: performance.timeOrigin + readyAt,
  }))
}

interface RunParts {
  readonly cluster: ProcessCluster
  readonly hosts: Hosts
  readonly say: (line: string) => void
}

class ChaosRun {
  readonly struck: Struck[] = []
  readonly mishaps: string[] = []
  readonly #parts: RunParts
  readonly #ground: Ground
  #loggedInAt = performance.now()

  constructor(parts: RunParts) {
    const { cluster, hosts } = parts
    this.#parts = parts
    this.#ground = {
      cluster,
      network: hosts.network,
      disks: hosts.disks,
      leader: () => this.#leader(),
      isWhole: () => becomesWhole(cluster, WHOLE_MS_MAX),
    }
  }

  async strikeFor({ seed, seconds, nemeses }: ChaosOptions): Promise<void> {
    const end = performance.now() + seconds * 1000
    for (const strike of strikes(new Random(seed, 'strikes'), nemeses)) {
      if (performance.now() >= end) return
      await this.#strike(strike)
      await wait(strike.restMs)
      if (performance.now() - this.#loggedInAt > TOKEN_MS) await this.#logIn()
    }
  }

  async #strike(strike: Strike): Promise<void> {
    const { say } = this.#parts
    const at = performance.now()
    const fault = await NEMESES[strike.nemesis](this.#ground, strike)
    say(`${strike.nemesis}: ${fault.what}, for ${strike.lengthMs} ms`)
    await wait(strike.lengthMs)
    await fault.heal()
    const healedAt = performance.now()
    await this.#allReady(fault)
    const { excused = null, what } = fault
    this.struck.push({ nemesis: strike.nemesis, what, at, healedAt, readyAt: performance.now(), excused })
  }

  async #allReady(fault: Fault): Promise<void> {
    const giveUpAt = performance.now() + READY_MS_MAX
    for (const { nodeId } of this.#parts.cluster.plan) {
      for (let why = await this.#tend(nodeId, fault); why !== null; why = await this.#tend(nodeId, fault)) {
        if (performance.now() > giveUpAt)
          throw new Error(`${nodeId} is not ready ${READY_MS_MAX / 1000} s after: ${fault.what}: ${why}`)
        await wait(POLL_MS)
      }
    }
  }

  /** What an operator does: starts who has ended, and who asks for it. Only the one with a full disk may need that. */
  async #tend(nodeId: string, { excused, what }: Fault): Promise<string | null> {
    const { cluster, say } = this.#parts
    const why = await cluster.unreadiness(nodeId)
    const hasEnded = !cluster.isRunning(nodeId)
    if (!hasEnded && why?.includes('start this node again') !== true) return why
    say(`${nodeId} ${hasEnded ? 'has ended' : 'asks to be started again'}`)
    if (nodeId !== excused) this.mishaps.push(`${nodeId} had to be started again after: ${what}`)
    if (!hasEnded) await cluster.signal(nodeId, 'SIGTERM')
    cluster.startNode(nodeId)
    return why ?? ''
  }

  async #leader(): Promise<string> {
    let leader: string | undefined
    await until('there is a leader', async () => (leader = await this.#parts.cluster.leader()) !== undefined)
    return leader ?? ''
  }

  async #logIn(): Promise<void> {
    const { cluster } = this.#parts
    await until('there is a token', () =>
      cluster.login('n1').then(
        () => true,
        () => false,
      ),
    )
    this.#loggedInAt = performance.now()
  }
}
