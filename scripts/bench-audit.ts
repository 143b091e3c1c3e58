/**
 * What the audit log costs: `node scripts/bench-audit.ts [--nodes 1] [--rounds 5] [--requests 4000] [--method GET]`.
 *
 * Two clusters on loopback, one with its audit log and one without, are asked in turns: A B A B. Told is the CPU time of all
 * nodes for a thousand requests, and the ratio of the two in each turn. Rules: every answer is checked; only processes that
 * were started here are ended; nothing is left behind.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BenchClient } from './bench-client.ts'
import { Processes } from './bench-processes.ts'
import { freeBasePort } from './free-ports.ts'
import { demoCredentials } from './local-demo.ts'
import { planNodes, prepare } from './local-setup.ts'
import { logIn, makeBucket } from './log-in.ts'

const NODE = fileURLToPath(new URL('bench-audit-node.ts', import.meta.url))
const CLIENTS = 16
const OBJECTS = 64
const BODY = Buffer.alloc(1024, 'x')
const PORTS = { from: 12_000, to: 30_000 }
const READY_MS_MAX = 60_000

type Kind = 'audited' | 'unaudited'

interface Side {
  readonly kind: Kind
  readonly processes: Processes
  readonly clients: readonly BenchClient[]
  readonly stop: () => Promise<void>
}

async function startSide(kind: Kind, nodes: number): Promise<Side> {
  const dataDir = mkdtempSync(join(tmpdir(), `holdfast-bench-audit-${kind}-`))
  const basePort = await freeBasePort(nodes, PORTS)
  const options = { nodes, dataDir, basePort, json: true, configFile: null, restart: false }
  const plan = planNodes(options)
  const setup = await prepare(options, plan)
  const children: ChildProcess[] = plan.map(({ configFile, logFile }) => {
    const log = openSync(logFile, 'a')
    return spawn(process.execPath, [NODE, configFile, kind], { stdio: ['ignore', log, log] })
  })
  const stop = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.close()))
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(children.map(async (child) => child.exitCode ?? (await once(child, 'exit'))))
    rmSync(dataDir, { recursive: true, force: true })
  }
  const clients: BenchClient[] = []
  await Promise.all(plan.map(({ adminUrl }) => ready(adminUrl)))
  const { accessKeyId, secretKey } = await demoCredentials(options, setup, plan)
  if (accessKeyId === null || secretKey === null) throw new Error('The demo tenant has no key')
  const holder = { endpoints: plan.map(({ dataUrl }) => dataUrl), accessKeyId, secretKey }
  const token = await logIn(holder)
  for (let n = 0; n < CLIENTS; n++) clients.push(new BenchClient(plan[n % nodes]?.dataUrl ?? '', token))
  await makeBucket(holder, 'bench')
  const processes = Processes.of(children.map(({ pid = 0 }) => pid))
  if (processes === null) throw new Error('This benchmark needs /proc')
  return { kind, processes, clients, stop }
}

async function ready(adminUrl: string): Promise<void> {
  const until = performance.now() + READY_MS_MAX
  for (;;) {
    const answer = await fetch(`${adminUrl}/readyz`).catch(() => null)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
    if (performance.now() > until) throw new Error(`${adminUrl} did not become ready`)
    await wait(100)
  }
}

interface Measured {
  readonly perSecond: number
  /** Of all nodes, for a thousand requests. */
  readonly cpuSeconds: number
}

async function measure(side: Side, method: string, requests: number): Promise<Measured> {
  const { processes, clients } = side
  processes.startMeasuring()
  const begun = performance.now()
  const work = async (client: BenchClient, n: number): Promise<void> => {
    for (let i = n; i < requests; i += CLIENTS) {
      const path = `/buckets/bench/objects/k${i % OBJECTS}`
      const asked =
        method === 'PUT' ? ({ method, path, body: BODY } as const) : ({ method: 'GET', path } as const)
      const { status } = await client.ask(asked)
      if (status !== 200) throw new Error(`${method} gave ${status}`)
    }
  }
  await Promise.all(clients.map(work))
  const took = (performance.now() - begun) / 1000
  // Rows that are still in the spool are part of the price; an idle second costs both the same.
  await wait(1000)
  return {
    perSecond: requests / took,
    cpuSeconds: processes.sinceStart().cpuSeconds / (requests / 1000),
  }
}

/** Of an even number the mean of the two in the middle: the upper one alone would flatter a ratio of rates. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [(sorted.length - 1) >> 1, sorted.length >> 1].map((at) => sorted[at] ?? 0)
  return ((low ?? 0) + (high ?? 0)) / 2
}

const shown = (value: number): string => value.toFixed(value < 10 ? 3 : 0)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '5' },
      requests: { type: 'string', default: '4000' },
      method: { type: 'string', default: 'GET' },
    },
  })
  const { method } = values
  const requests = Number(values.requests)
  const sides: Side[] = []
  try {
    for (const kind of ['audited', 'unaudited'] as const)
      sides.push(await startSide(kind, Number(values.nodes)))
    const [audited, unaudited] = sides as [Side, Side]
    for (const side of sides) await measure(side, 'PUT', OBJECTS)
    for (const side of sides) await measure(side, method, requests)
    const turns: [Measured, Measured][] = []
    for (let round = 0; round < Number(values.rounds); round++)
      turns.push([await measure(audited, method, requests), await measure(unaudited, method, requests)])
    for (const [a, b] of turns)
      process.stdout.write(
        `${method} audited ${shown(a.perSecond)}/s ${shown(a.cpuSeconds)} CPU s/1000, not ${shown(b.perSecond)}/s ${shown(b.cpuSeconds)} CPU s/1000, ratio CPU ${shown(a.cpuSeconds / b.cpuSeconds)}\n`,
      )
    const cpu = median(turns.map(([a, b]) => a.cpuSeconds / b.cpuSeconds))
    const rate = median(turns.map(([a, b]) => a.perSecond / b.perSecond))
    process.stdout.write(`${method} median ratio: CPU ${shown(cpu)}, rate ${shown(rate)}\n`)
  } finally {
    for (const side of sides) await side.stop()
  }
}

await main()
