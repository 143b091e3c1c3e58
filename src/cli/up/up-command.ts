/**
 * `holdfast up`: a cluster on this machine, in the foreground, with a demo tenant. [decisions 15]
 *
 * Owns: the sequence prepare -> start -> wait -> demo tenant -> print commands to try. With --json standard output carries
 * exactly one line; everything else goes to standard error.
 */
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import { EXIT } from '../base/exit.ts'
import { note, printJson } from '../base/printing.ts'
import { demoCredentials } from './demo.ts'
import { type LocalOptions, notStarted } from './local-options.ts'
import { LocalNodes, requireFreePorts } from './nodes.ts'
import { readyText } from './ready-text.ts'
import { type NodePlan, planNodes, prepare, type Setup, writePrivate } from './setup.ts'

const READY_MS_MAX = 60_000
const POLL_MS = 50

export interface UpOptions {
  readonly nodes: number
  readonly dir: string
  readonly basePort: number
  readonly json?: boolean
  readonly config?: string
  readonly restart?: boolean
}

/** What is kept in `cluster.json`, and printed with --json. */
export interface ClusterDescription {
  readonly ready: true
  readonly clusterId: string
  readonly dataDir: string
  readonly nodes: readonly (Omit<NodePlan, 'logFile'> & { readonly pid: number })[]
  readonly ownerToken: string
  readonly tenantId: string
  readonly accessKeyId: string
  readonly secretKey: string
}

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

/** Throws CommandError after READY_MS_MAX, or when the node does not run any more; `log` is what the error says of the log. */
export async function untilReady(
  node: NodePlan,
  { isRunning, log }: { readonly isRunning: () => boolean; readonly log: () => string },
): Promise<void> {
  const giveUpAt = performance.now() + READY_MS_MAX
  while (!(await isReady(node))) {
    if (!isRunning()) throw notStarted(`Node ${node.nodeId} did not start. ${log()}`, '')
    if (performance.now() > giveUpAt)
      throw notStarted(
        `Node ${node.nodeId} is not ready after ${READY_MS_MAX / 1000} s. ${log()}`,
        'A busy machine needs longer: start it again.',
      )
    await wait(POLL_MS)
  }
}

/** Writes the description where commands find it: `cluster.json` in the folder. */
export function describeCluster(
  { dataDir }: LocalOptions,
  setup: Setup,
  nodes: ClusterDescription['nodes'],
): ClusterDescription {
  const { clusterId, ownerToken, tenantId, accessKeyId, secretKey } = setup
  const description: ClusterDescription = {
    ready: true,
    clusterId,
    dataDir,
    nodes,
    ownerToken,
    tenantId,
    accessKeyId: accessKeyId ?? '',
    secretKey: secretKey ?? '',
  }
  writePrivate(join(dataDir, 'cluster.json'), description)
  return description
}

export function nodeView(
  { nodeId, dataUrl, adminUrl, peerAddress, dataDir, configFile }: NodePlan,
  pid: number,
) {
  return { nodeId, pid, dataUrl, adminUrl, peerAddress, dataDir, configFile }
}

function stopSignal(): Promise<void> {
  return new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => done())
  })
}

async function bringUp(options: LocalOptions, plan: readonly NodePlan[], nodes: LocalNodes): Promise<void> {
  const prepared = await prepare(options, plan)
  nodes.startAll()
  for (const node of plan)
    await untilReady(node, {
      isRunning: () => nodes.isRunning(node.nodeId),
      log: () => `The end of ${node.logFile}:\n${nodes.logTail(node)}`,
    })
  const setup = await demoCredentials(options, prepared, plan)
  const views = plan.map((node) => nodeView(node, nodes.pid(node.nodeId)))
  const description = describeCluster(options, setup, views)
  if (options.json) printJson(description)
  else process.stdout.write(readyText(description))
}

/** `program`: the file with which Node.js starts a node. Resolves with the exit code when it was stopped, or all nodes ended. */
export async function bringUpCluster(given: UpOptions, program: string): Promise<number> {
  const { nodes: count, basePort, json = false, config, restart = false } = given
  const options: LocalOptions = {
    nodes: count,
    dataDir: resolve(given.dir),
    basePort,
    json,
    configFile: config === undefined ? null : resolve(config),
    restart,
  }
  const plan = planNodes(options)
  await requireFreePorts(plan)
  const stop = stopSignal().then(() => 'signal' as const)
  let allDead: (why: 'dead') => void = () => undefined
  const dead = new Promise<'dead'>((done) => {
    allDead = done
  })
  const nodes = new LocalNodes(
    plan,
    { program, restart },
    {
      exited(nodeId, how) {
        note(
          `node ${nodeId} ended (${how}); ${nodes.running} of ${plan.length} nodes run${restart ? ', starting it again' : ''}`,
        )
        if (nodes.running === 0 && !restart) allDead('dead')
      },
    },
  )
  try {
    const up = bringUp(options, plan, nodes)
    const first = await Promise.race([up, stop])
    if (first === 'signal') {
      await nodes.stopAll()
      await up.catch(() => undefined)
      return EXIT.done
    }
    const why = await Promise.race([stop, dead])
    if (why === 'dead') note('No node is running any more.')
    return why === 'dead' ? EXIT.failed : EXIT.done
  } finally {
    await nodes.stopAll()
  }
}
