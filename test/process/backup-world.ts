/**
 * A cluster with a directory for backups, and clusters that are restored from it.
 *
 * Owns: the folders, the restored set-up. Rule: a restored cluster has an id of its own, and the key file and credentials of the first.
 */
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { planNodes } from '../../src/cli/up/setup.ts'
import { until } from '../helpers/async.ts'
import {
  freeBasePort,
  ProcessCluster,
  serverCommand,
  sha256,
  temporaryFolder,
} from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'

interface Teardown {
  teardown(callback: () => unknown): unknown
}

export interface BackedUp {
  readonly cluster: ProcessCluster
  /** `backup.directory` of its nodes. */
  readonly backups: string
}

export async function startBackedUp(t: Teardown, nodes: number, settings = ''): Promise<BackedUp> {
  const backups = temporaryFolder(t)
  const lines = [`backup:`, `  directory: ${JSON.stringify(backups)}`, settings]
  const cluster = await ProcessCluster.start(t, nodes, `${lines.join('\n')}\n`)
  return { cluster, backups }
}

export interface OperationSeen {
  readonly operationId: string
  readonly status: string
  readonly phase: string
  readonly backupId: string
  readonly error: string | null
  readonly progress: {
    readonly blobsDone: number
    readonly bytesMoved: number
    readonly skipped: number
    readonly blobsTotal: number
  }
}

export async function startBackup(
  cluster: ProcessCluster,
  nodeId: string,
  body: { readonly maxBytesPerSecond?: number; readonly tenantId?: string } = {},
): Promise<OperationSeen> {
  const asked = { target: 'directory:weekly', reason: 'a test', ...body }
  const answer = await cluster.admin(nodeId, { method: 'POST', path: '/cluster/backups', body: asked })
  if (answer.status !== 202) throw new Error(`backup: ${answer.status} ${answer.body.toString()}`)
  return JSON.parse(answer.body.toString()) as OperationSeen
}

export async function seen(cluster: ProcessCluster, nodeId: string, id: string): Promise<OperationSeen> {
  const { body } = await cluster.admin(nodeId, { method: 'GET', path: `/cluster/operations/${id}` })
  return JSON.parse(body.toString()) as OperationSeen
}

export async function ended(cluster: ProcessCluster, nodeId: string, id: string): Promise<OperationSeen> {
  let last: OperationSeen | null = null
  await until(`backup ${id} has ended`, async () => {
    last = await seen(cluster, nodeId, id).catch(() => null)
    return last !== null && ['succeeded', 'failed', 'cancelled'].includes(last.status)
  })
  if (last === null) throw new Error('no answer')
  return last
}

/** The configuration files and the key of a new cluster; `restore` runs for each node before any of them starts. */
export async function startRestored(
  t: Teardown,
  from: ProcessCluster,
  nodes: number,
  restore: (configFile: string, nodeId: string) => Promise<void>,
): Promise<ProcessCluster> {
  const dataDir = temporaryFolder(t)
  mkdirSync(dataDir, { recursive: true })
  const basePort = await freeBasePort(nodes)
  const setup = { ...from.setup, clusterId: randomUUID(), nodes }
  writeFileSync(join(dataDir, 'setup.json'), JSON.stringify(setup))
  const first = from.plan[0]
  if (first === undefined) throw new Error('the first cluster has a node')
  copyFileSync(join(dirname(first.configFile), 'master.key'), join(dataDir, 'master.key'))
  const options = { nodes, dataDir, basePort, json: true, configFile: null, restart: false }
  const plan = planNodes(options)
  return ProcessCluster.startAt(t, {
    options,
    plan,
    launch: (node) => ({ command: serverCommand(node) }),
    beforeStart: async () => {
      for (const { configFile, nodeId } of plan) await restore(configFile, nodeId)
    },
  })
}

export async function restoreWith(
  backups: string,
  configFile: string,
  ...more: readonly string[]
): Promise<{ readonly code: number | null; readonly restored: Restored; readonly err: string }> {
  const words = [
    'backup',
    'restore',
    '--config',
    configFile,
    '--from',
    `directory:${join(backups, 'weekly')}`,
  ]
  const { code, out, err } = await runCommand(...words, ...more, '--json')
  return { code, restored: JSON.parse(out === '' ? '{}' : out) as Restored, err }
}

export async function verifyWith(
  backups: string,
  configFile: string,
  ...more: readonly string[]
): Promise<{ readonly code: number | null; readonly verified: Verified }> {
  const words = ['backup', 'verify', '--config', configFile, '--from', `directory:${join(backups, 'weekly')}`]
  const { code, out } = await runCommand(...words, ...more, '--json')
  return { code, verified: JSON.parse(out) as Verified }
}

interface Verified {
  readonly backupId: string
  readonly chunks: number
  readonly damages: readonly { readonly name: string; readonly what: string }[]
}

export interface Restored {
  readonly rows: number
  readonly copies: number
  readonly missing: readonly string[]
  readonly damaged: readonly string[]
  readonly lost: {
    readonly versions: number
    readonly named: readonly { readonly bucket: string; readonly key: string; readonly versionId: string }[]
  }
}

interface VersionSeen {
  readonly key: string
  readonly versionId: string
  /** Absent: a delete marker. */
  readonly size?: number
}

/** Everything that clients see of a bucket: each version, and the digest of its bytes; null: it cannot be read. */
export async function contentOf(
  cluster: ProcessCluster,
  nodeId: string,
  bucket: string,
): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>()
  const { status, body } = await cluster.call(nodeId, 'GET', `/buckets/${bucket}/versions?maxKeys=1000`)
  if (status !== 200) throw new Error(`${status} ${body.toString()}`)
  const { versions } = JSON.parse(body.toString()) as { readonly versions: readonly VersionSeen[] }
  for (const version of versions) {
    const { key, versionId, size } = version
    const path = `/buckets/${bucket}/objects/${encodeURIComponent(key)}?versionId=${versionId}`
    const read = size === undefined ? null : await cluster.call(nodeId, 'GET', path)
    found.set(JSON.stringify(version), read === null ? '' : read.status === 200 ? sha256(read.body) : null)
  }
  return found
}
