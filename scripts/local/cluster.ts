/**
 * `npm start`: a cluster on this machine, in the foreground, with a demo tenant. [decisions 15]
 *
 * Owns: the sequence prepare -> start -> wait -> demo tenant -> print commands to try. With --json standard output carries
 * exactly one line; everything else goes to standard error.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import { StartError } from '../../cluster/index.ts'
import { demoCredentials } from './demo.ts'
import { LocalNodes, logTail, requireFreePorts } from './nodes.ts'
import { type LocalOptions, parseLocalOptions, USAGE, UsageError } from './options.ts'
import { type NodePlan, planNodes, prepare, type Setup, writePrivate } from './setup.ts'
import { readyText } from './text.ts'

const READY_MS_MAX = 60_000
const POLL_MS = 50

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function isReady(node: NodePlan): Promise<boolean> {
  try {
    // Not fetch: it refuses ports such as 10080, which a cluster may have.
    const { statusCode, body } = await request(`${node.adminUrl}/readyz`, {
      signal: AbortSignal.timeout(2000),
    })
    await body.dump()
    return statusCode === 200
  } catch {
    // Not listening yet: the caller retries until its own limit.
    return false
  }
}

async function waitUntilReady(plan: readonly NodePlan[], nodes: LocalNodes): Promise<void> {
  const giveUpAt = performance.now() + READY_MS_MAX
  for (const node of plan) {
    while (!(await isReady(node))) {
      if (!nodes.isRunning(node.nodeId))
        throw new UsageError(
          `Node ${node.nodeId} did not start. The end of ${node.logFile}:\n${logTail(node)}`,
        )
      if (performance.now() > giveUpAt)
        throw new UsageError(
          `Node ${node.nodeId} is not ready after ${READY_MS_MAX / 1000} s. The end of ${node.logFile}:\n${logTail(node)}`,
        )
      await wait(POLL_MS)
    }
  }
}

function describe(options: LocalOptions, setup: Setup, plan: readonly NodePlan[], nodes: LocalNodes) {
  return {
    ready: true,
    clusterId: setup.clusterId,
    dataDir: options.dataDir,
    nodes: plan.map(({ nodeId, dataUrl, adminUrl, peerAddress, dataDir, configFile }) => ({
      nodeId,
      pid: nodes.pid(nodeId),
      dataUrl,
      adminUrl,
      peerAddress,
      dataDir,
      configFile,
    })),
    ownerToken: setup.ownerToken,
    tenantId: setup.tenantId,
    accessKeyId: setup.accessKeyId ?? '',
    secretKey: setup.secretKey ?? '',
  }
}

export type ClusterDescription = ReturnType<typeof describe>

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
}

async function bringUp(options: LocalOptions, plan: readonly NodePlan[], nodes: LocalNodes): Promise<void> {
  const prepared = await prepare(options, plan)
  nodes.startAll()
  await waitUntilReady(plan, nodes)
  const setup = await demoCredentials(options, prepared, plan)
  const description = describe(options, setup, plan, nodes)
  writePrivate(join(options.dataDir, 'cluster.json'), description)
  if (options.json) process.stdout.write(`${JSON.stringify(description)}\n`)
  else process.stdout.write(readyText(description))
}

async function run(options: LocalOptions): Promise<number> {
  const plan = planNodes(options)
  await requireFreePorts(plan)
  const stop = stopSignal().then(() => 'signal' as const)
  let allDead: (why: 'dead') => void = () => undefined
  const dead = new Promise<'dead'>((resolve) => {
    allDead = resolve
  })
  const nodes = new LocalNodes(plan, options.restart, {
    exited(nodeId, how) {
      say(
        `node ${nodeId} ended (${how}); ${nodes.running} of ${plan.length} nodes run${options.restart ? ', starting it again' : ''}`,
      )
      if (nodes.running === 0 && !options.restart) allDead('dead')
    },
  })
  try {
    const up = bringUp(options, plan, nodes)
    const first = await Promise.race([up, stop])
    if (first === 'signal') {
      await nodes.stopAll()
      await up.catch(() => undefined)
      return 0
    }
    const why = await Promise.race([stop, dead])
    if (why === 'dead') say('No node is running any more.')
    return why === 'dead' ? 1 : 0
  } finally {
    await nodes.stopAll()
  }
}

async function main(): Promise<number> {
  try {
    const options = parseLocalOptions(process.argv.slice(2))
    if (options === null) {
      process.stdout.write(USAGE)
      return 0
    }
    return await run(options)
  } catch (error) {
    if (error instanceof UsageError) say(`error: ${error.message}`)
    else if (error instanceof StartError) say(`error: ${error.message}\n  ${error.hint}`)
    else throw error
    return error instanceof UsageError && error.cause !== undefined ? 2 : 1
  }
}

process.exitCode = await main()
