/**
 * `holdfast config create`: all files that the nodes of a new cluster need, in one folder or in one for each node.
 *
 * Owns: the order, the configuration of each node, the printed text. Rules: every argument is checked before a secret is written; only a new or
 * empty folder is written to, so no key of a cluster is ever overwritten; no node is contacted.
 */
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { stringify } from 'yaml'
import { MasterKey } from '../../access/master-key.ts'
import { sentenceOf } from '../../config/config-fault.ts'
import { examineConfig } from '../../config/load-config.ts'
import { AUTHORITY_DAYS, NODE_DAYS } from '../base/certificate-days.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { printJson, printLine, printTable } from '../base/printing.ts'
import { type Authority, newAuthority, newNodePair, readAuthority } from '../certificates/authority.ts'
import { writePair } from '../certificates/certificate-files.ts'
import { AUTHORITY, type ClusterFiles, clusterFiles } from './cluster-files.ts'
import { contentOf, copyShared, giveTo, makeFolders, type Owner } from './cluster-folder.ts'

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
  /** The address that all listeners bind to; by default the host of the node. */
  readonly listen?: string
  /** The data and admin listeners speak plain HTTP. */
  readonly plain?: boolean
  /** A folder for each node instead of one for all. */
  readonly nodeFolders?: boolean
  /** Of the folder of each node and its files. */
  readonly owner?: Owner
  /** A folder that holds all files already is left as it is. */
  readonly once?: boolean
  readonly json?: boolean
}

interface Founder {
  readonly nodeId: string
  readonly host: string
}

export async function createConfig(options: CreateConfigOptions): Promise<number> {
  const { dir, json = false, nodeFolders = false, owner } = options
  if (owner !== undefined && !nodeFolders)
    throw wrongUse(
      '--owner needs --node-folders',
      'In one folder for all nodes, each could read the keys of the others.',
    )
  const clusterId = options.clusterId ?? randomBytes(16).toString('hex')
  const founders = foundersOf(options)
  const nodeIds = founders.map(({ nodeId }) => nodeId)
  const files = clusterFiles(dir, nodeIds, nodeFolders)
  if (await isMade(dir, files, options.once)) {
    if (json) printJson({ dir, created: false })
    else printLine(`'${dir}' holds the files of this cluster already; nothing was changed.`)
    return EXIT.done
  }
  const now = Date.now()
  const authorityPair = newAuthority(clusterId, { now, days: AUTHORITY_DAYS })
  const authority = readAuthority(authorityPair, now)
  const pairs = founders.map((founder) => [founder.nodeId, pairOf(authority, founder, now)] as const)
  await makeFolders(files)
  await writeConfigs(options, { clusterId, founders, files })
  await MasterKey.create(files.masterKey)
  await writePair(files.authority, authorityPair)
  for (const [nodeId, pair] of pairs) await writePair(files.node(nodeId).pair, pair)
  await copyShared(files)
  if (owner !== undefined) await giveTo(owner, files)
  print({ clusterId, founders, files, json })
  return EXIT.done
}

/** Throws CommandError when the folder holds anything else than all of the files. */
async function isMade(dir: string, files: ClusterFiles, once = false): Promise<boolean> {
  const content = await contentOf(dir)
  const [name] = content
  if (name === undefined) return false
  if (!once)
    throw new CommandError(`'${dir}' is not empty: it contains '${name}'`, {
      code: 'folder_not_empty',
      hint: 'Name a new folder with --dir. Nothing was written.',
      exitCode: EXIT.refused,
    })
  const missing = files.names.filter((wanted) => !content.includes(wanted))
  if (missing.length === 0) return true
  throw new CommandError(`'${dir}' is incomplete: ${missing.join(', ')} missing`, {
    code: 'folder_incomplete',
    hint: 'Copy them back from your backup. Only if no node has ever run with these files, remove the folder. Nothing was written.',
    exitCode: EXIT.refused,
  })
}

function foundersOf({ node, zone = {} }: CreateConfigOptions): readonly Founder[] {
  const founders = node.map((text) => {
    const at = text.indexOf('=')
    if (at < 1 || at === text.length - 1)
      throw wrongUse(`'${text}' is no node`, 'Give each node as --node ID=HOST, such as --node n1=10.0.0.1.')
    return { nodeId: text.slice(0, at), host: text.slice(at + 1) }
  })
  if (founders.some(({ nodeId }) => nodeId === AUTHORITY))
    throw wrongUse(`No node can be named '${AUTHORITY}'`, 'The files of the authority have this name.')
  const unknown = Object.keys(zone).find((id) => founders.every(({ nodeId }) => nodeId !== id))
  if (unknown !== undefined)
    throw wrongUse(`--zone names '${unknown}', which is no --node`, 'Give each zone as --zone ID=ZONE.')
  return founders
}

const pairOf = (authority: Authority, { nodeId, host }: Founder, now: number) =>
  newNodePair(authority, { nodeId, hosts: [host] }, { now, days: NODE_DAYS })

/** Removes them again if a node would refuse one. Throws CommandError with the first fault. */
async function writeConfigs(options: CreateConfigOptions, cluster: Cluster): Promise<void> {
  const files = cluster.founders.map((founder) => ({
    file: cluster.files.node(founder.nodeId).config,
    text: stringify(configOf(options, cluster, founder), { lineWidth: 0, aliasDuplicateObjects: false }),
  }))
  for (const { file, text } of files) await writeFile(file, text, { mode: 0o600, flush: true })
  const [fault] = files.flatMap(({ file }) => examineConfig(file, {}).faults)
  if (fault === undefined) return
  for (const { file } of files) await rm(file, { force: true })
  throw wrongUse(`No node would accept this: ${sentenceOf(fault)}`, `${fault.hint} Nothing was written.`)
}

interface Cluster {
  readonly clusterId: string
  readonly founders: readonly Founder[]
  readonly files: ClusterFiles
}

function configOf(
  { dataDir, port, zone = {}, listen, plain = false }: CreateConfigOptions,
  { clusterId, founders, files }: Cluster,
  { nodeId, host }: Founder,
): object {
  const at = (of: string, offset: number): string => `${isIPv6(of) ? `[${of}]` : of}:${port + offset}`
  const own = files.node(nodeId).ownPair
  const bound = listen ?? host
  const members = founders.map((member) => {
    const inZone = zone[member.nodeId]
    return { id: member.nodeId, peer: at(member.host, 2), ...(inZone === undefined ? {} : { zone: inZone }) }
  })
  return {
    node: { id: nodeId, data_dir: dataDir },
    cluster: { id: clusterId, members },
    listeners: {
      data: at(bound, 0),
      admin: at(bound, 1),
      peer: at(bound, 2),
      ...(plain ? { data_plain: true, admin_plain: true } : {}),
    },
    peer_tls: { ca: 'ca.pem', ...own },
    ...(plain ? {} : { data_tls: own, admin_tls: own }),
    security: { master_key_file: 'master.key' },
  }
}

function print({ clusterId, founders, files, json }: Cluster & { readonly json: boolean }): void {
  const { authority, masterKey } = files
  const nodes = founders.map(({ nodeId }) => {
    const { config, pair } = files.node(nodeId)
    return { nodeId, configFile: config, certificateFile: pair.certificate, keyFile: pair.key }
  })
  if (json)
    return printJson({
      clusterId,
      masterKeyFile: masterKey,
      caFile: authority.certificate,
      caKeyFile: authority.key,
      nodes,
    })
  const everywhere = files.hasFolders ? 'in the folder of every node' : 'to every node'
  printTable([
    [masterKey, `${everywhere}; without it all data is lost: keep a copy in a safe place`],
    [authority.certificate, `${everywhere}, and to clients`],
    [authority.key, 'to no node: anyone with it can add nodes'],
    ...nodes.map(({ nodeId }) => [
      files.node(nodeId).all,
      `to ${nodeId}: ${files.hasFolders ? 'all that it needs' : 'its configuration, certificate and key'}`,
    ]),
  ])
  printLine(
    `Then on each node, in the folder of these files: holdfast server --config ${files.hasFolders ? 'node' : 'ID'}.yaml`,
  )
  if (founders.length < 3)
    printLine(
      `Note: ${founders.length} of ${founders.length} voters must work for the cluster to serve; with 3 one may fail.`,
    )
}

function wrongUse(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
