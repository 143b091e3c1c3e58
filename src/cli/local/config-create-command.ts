/**
 * `holdfast config create`: all files that the nodes of a new cluster need, in one folder.
 *
 * Owns: the names of the files, the configuration of each node. Rules: every argument is checked before a secret is written; only a new or
 * empty folder is written to, so no key of a cluster is ever overwritten; no node is contacted.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { MasterKey } from '../../access/master-key.ts'
import { sentenceOf } from '../../config/config-fault.ts'
import { examineConfig } from '../../config/load-config.ts'
import { AUTHORITY_DAYS, NODE_DAYS } from '../base/certificate-days.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { printJson, printLine, printTable } from '../base/printing.ts'
import { type Authority, newAuthority, newNodePair, readAuthority } from '../certificates/authority.ts'
import { pairFiles, writePair } from '../certificates/certificate-files.ts'

export interface CreateConfigOptions {
  readonly dir: string
  /** `id=host`, one for each founding member. */
  readonly node: readonly string[]
  /** Node id -> zone. */
  readonly zone?: Readonly<Record<string, string>>
  readonly clusterId?: string
  readonly dataDir: string
  /** Of the data listener; the admin and peer listeners have the next two. */
  readonly port: number
  readonly json?: boolean
}

interface Founder {
  readonly nodeId: string
  readonly host: string
}

const MASTER_KEY = 'master.key'

export async function createConfig(options: CreateConfigOptions): Promise<number> {
  const { dir, json = false } = options
  const clusterId = options.clusterId ?? randomBytes(16).toString('hex')
  const founders = foundersOf(options)
  await refuseUsedFolder(dir)
  const now = Date.now()
  const authorityPair = newAuthority(clusterId, { now, days: AUTHORITY_DAYS })
  const authority = readAuthority(authorityPair, now)
  const pairs = founders.map((founder) => [founder.nodeId, pairOf(authority, founder, now)] as const)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await writeConfigs(options, { clusterId, founders })
  const masterKeyFile = join(dir, MASTER_KEY)
  await MasterKey.create(masterKeyFile)
  await writePair(pairFiles(dir, 'ca'), authorityPair)
  for (const [nodeId, pair] of pairs) await writePair(pairFiles(dir, nodeId), pair)
  print({ dir, clusterId, masterKeyFile, founders, json })
  return EXIT.done
}

function foundersOf({ node, zone = {} }: CreateConfigOptions): readonly Founder[] {
  const founders = node.map((text) => {
    const at = text.indexOf('=')
    if (at < 1 || at === text.length - 1)
      throw wrongUse(`'${text}' is no node`, 'Give each node as --node ID=HOST, such as --node n1=10.0.0.1.')
    return { nodeId: text.slice(0, at), host: text.slice(at + 1) }
  })
  const unknown = Object.keys(zone).find((id) => founders.every(({ nodeId }) => nodeId !== id))
  if (unknown !== undefined)
    throw wrongUse(`--zone names '${unknown}', which is no --node`, 'Give each zone as --zone ID=ZONE.')
  return founders
}

async function refuseUsedFolder(dir: string): Promise<void> {
  const [name] = existsSync(dir) ? await readdir(dir) : []
  if (name === undefined) return
  throw new CommandError(`'${dir}' is not empty: it contains '${name}'`, {
    code: 'folder_not_empty',
    hint: 'Name a new folder with --dir. Nothing was written.',
    exitCode: EXIT.refused,
  })
}

const pairOf = (authority: Authority, { nodeId, host }: Founder, now: number) =>
  newNodePair(authority, { nodeId, hosts: [host] }, { now, days: NODE_DAYS })

/** Removes them again if a node would refuse one. Throws CommandError with the first fault. */
async function writeConfigs(
  options: CreateConfigOptions,
  cluster: { readonly clusterId: string; readonly founders: readonly Founder[] },
): Promise<void> {
  const files = cluster.founders.map((founder) => ({
    file: configFile(options.dir, founder.nodeId),
    text: stringify(configOf(options, cluster, founder), { lineWidth: 0, aliasDuplicateObjects: false }),
  }))
  for (const { file, text } of files) await writeFile(file, text, { mode: 0o600, flush: true })
  const [fault] = files.flatMap(({ file }) => examineConfig(file, {}).faults)
  if (fault === undefined) return
  for (const { file } of files) await rm(file, { force: true })
  throw wrongUse(`No node would accept this: ${sentenceOf(fault)}`, `${fault.hint} Nothing was written.`)
}

const configFile = (dir: string, nodeId: string): string => join(dir, `${nodeId}.yaml`)

function configOf(
  { dataDir, port, zone = {} }: CreateConfigOptions,
  { clusterId, founders }: { readonly clusterId: string; readonly founders: readonly Founder[] },
  { nodeId, host }: Founder,
): object {
  const at = (of: string, offset: number): string => `${isIPv6(of) ? `[${of}]` : of}:${port + offset}`
  const own = { cert: `${nodeId}.pem`, key: `${nodeId}.key` }
  const members = founders.map((member) => {
    const inZone = zone[member.nodeId]
    return { id: member.nodeId, peer: at(member.host, 2), ...(inZone === undefined ? {} : { zone: inZone }) }
  })
  return {
    node: { id: nodeId, data_dir: dataDir },
    cluster: { id: clusterId, members },
    listeners: { data: at(host, 0), admin: at(host, 1), peer: at(host, 2) },
    peer_tls: { ca: 'ca.pem', ...own },
    data_tls: own,
    admin_tls: own,
    security: { master_key_file: MASTER_KEY },
  }
}

interface Created {
  readonly dir: string
  readonly clusterId: string
  readonly masterKeyFile: string
  readonly founders: readonly Founder[]
  readonly json: boolean
}

function print({ dir, clusterId, masterKeyFile, founders, json }: Created): void {
  const ca = pairFiles(dir, 'ca')
  const nodes = founders.map(({ nodeId }) => ({
    nodeId,
    configFile: configFile(dir, nodeId),
    certificateFile: pairFiles(dir, nodeId).certificate,
    keyFile: pairFiles(dir, nodeId).key,
  }))
  if (json) return printJson({ clusterId, masterKeyFile, caFile: ca.certificate, caKeyFile: ca.key, nodes })
  printTable([
    [masterKeyFile, 'to every node; without it all data is lost: keep a copy in a safe place'],
    [ca.certificate, 'to every node, and to clients'],
    [ca.key, 'to no node: anyone with it can add nodes'],
    ...nodes.map(({ nodeId }) => [
      join(dir, `${nodeId}.*`),
      `to ${nodeId}: its configuration, certificate and key`,
    ]),
  ])
  printLine(`Then on each node, in the folder of these files: holdfast server --config ID.yaml`)
  if (founders.length < 3)
    printLine(
      `Note: ${founders.length} of ${founders.length} voters must work for the cluster to serve; with 3 one may fail.`,
    )
}

function wrongUse(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
