/**
 * The cost of the audit log: `node scripts/bench/audit.ts [--nodes 1] [--rounds 10] [--requests 4000] [--method GET]`.
 *
 * One cluster on loopback serves requests in turns, with its audit log and without: A B B A, so that neither always comes first. The output is the
 * processor time of all nodes for a thousand requests, and the ratio of the two in each round. Rules: every answer is checked; only
 * processes that were started here are ended; nothing is left behind.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BenchClient } from './client.ts'
import { Processes } from './processes.ts'
import { median } from './statistics.ts'
import { freeBasePort } from '../local/free-ports.ts'
import { demoCredentials } from '../../src/cli/up/demo.ts'
import { planNodes, prepare } from '../../src/cli/up/setup.ts'
import { logIn, makeBucket } from './log-in.ts'

const NODE = fileURLToPath(new URL('audit-node.ts', import.meta.url))
const CLIENTS = 16
const OBJECTS = 64
const BODY = Buffer.alloc(1024, 'x')
const PORTS = { from: 12_000, to: 30_000 }
const READY_MS_MAX = 60_000

interface Cluster {
  readonly processes: Processes
  readonly clients: readonly BenchClient[]
  readonly audit: (isAudited: boolean) => Promise<void>
  readonly stop: () => Promise<void>
}

async function startCluster(nodes: number): Promise<Cluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-audit-'))
  const basePort = await freeBasePort(nodes, PORTS)
  const options = { nodes, dataDir, basePort, json: true, configFile: null, restart: false }
  const plan = planNodes(options)
  const setup = await prepare(options, plan)
  const children: ChildProcess[] = plan.map(({ configFile, logFile }) => {
    const log = openSync(logFile, 'a')
    return spawn(process.execPath, [NODE, configFile], { stdio: ['ignore', log, log, 'ipc'] })
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
  const audit = async (isAudited: boolean): Promise<void> => {
    const replies = children.map((child) => once(child, 'message'))
    for (const child of children) child.send(isAudited)
    await Promise.all(replies)
  }
  return { processes, clients, audit, stop }
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
  /** Processor time of all nodes for a thousand requests. */
  readonly cpuSeconds: number
}

async function measure({ processes, clients }: Cluster, method: string, requests: number): Promise<Measured> {
  processes.startMeasuring()
  const start = performance.now()
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
  const took = (performance.now() - start) / 1000
  // Rows that are still in the spool are part of the cost; an idle second costs both turns the same.
  await wait(1000)
  return {
    perSecond: requests / took,
    cpuSeconds: processes.sinceStart().cpuSeconds / (requests / 1000),
  }
}

const shown = (value: number): string => value.toFixed(value < 10 ? 3 : 0)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '10' },
      requests: { type: 'string', default: '4000' },
      method: { type: 'string', default: 'GET' },
    },
  })
  const { method } = values
  const requests = Number(values.requests)
  const cluster = await startCluster(Number(values.nodes))
  try {
    await measure(cluster, 'PUT', OBJECTS)
    await measure(cluster, method, requests)
    const turn = async (isAudited: boolean): Promise<Measured> => {
      await cluster.audit(isAudited)
      return measure(cluster, method, requests)
    }
    const turns: [Measured, Measured][] = []
    for (let round = 0; round < Number(values.rounds); round++) {
      const isFirst = round % 2 === 0
      const [one, other] = [await turn(isFirst), await turn(!isFirst)]
      turns.push(isFirst ? [one, other] : [other, one])
    }
    for (const [a, b] of turns)
      process.stdout.write(
        `${method} audited ${shown(a.perSecond)}/s ${shown(a.cpuSeconds)} CPU s/1000, not ${shown(b.perSecond)}/s ${shown(b.cpuSeconds)} CPU s/1000, ratio CPU ${shown(a.cpuSeconds / b.cpuSeconds)}\n`,
      )
    const cpu = median(turns.map(([a, b]) => a.cpuSeconds / b.cpuSeconds))
    const rate = median(turns.map(([a, b]) => a.perSecond / b.perSecond))
    process.stdout.write(`${method} median ratio: CPU ${shown(cpu)}, rate ${shown(rate)}\n`)
  } finally {
    await cluster.stop()
  }
}

await main()
