/**
 * The files that a local cluster keeps between two runs, and the configuration files made from them.
 *
 * Owns: `setup.json` (identity and credentials, mode 0600), `master.key`, one YAML file a node, a `.gitignore` over all of it.
 * Rule: a folder with other contents is never written to.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { MasterKey } from '../../access/master-key.ts'
import { newAdminToken } from '../../access/admin-token.ts'
import { leaveTokenRequest } from '../../workers/pending-tokens.ts'
import { type LocalOptions, wrongUse } from './local-options.ts'

export interface Setup {
  readonly clusterId: string
  readonly nodes: number
  readonly ownerToken: string
  readonly ownerTokenId: string
  readonly ownerTokenSha256: string
  readonly tenantId: string
  readonly accessKeyId: string | null
  readonly secretKey: string | null
}

export interface NodePlan {
  readonly nodeId: string
  readonly dataUrl: string
  readonly adminUrl: string
  readonly peerAddress: string
  readonly dataDir: string
  readonly configFile: string
  readonly logFile: string
}

const HOST = '127.0.0.1'
const SETUP_FILE = 'setup.json'
const IGNORE_FILE = '.gitignore'
/** What an earlier run that was interrupted may have left. */
const OWN_FILES = ['master.key', `${SETUP_FILE}.tmp`, IGNORE_FILE]

/** Readable only by its owner, and never partially written. */
export function writePrivate(file: string, value: unknown): void {
  writeFileSync(`${file}.tmp`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.tmp`, file)
}

export function planNodes(options: LocalOptions): readonly NodePlan[] {
  return Array.from({ length: options.nodes }, (_, i) => {
    const nodeId = `n${i + 1}`
    const port = options.basePort + 10 * i
    return {
      nodeId,
      dataUrl: `http://${HOST}:${port}`,
      adminUrl: `http://${HOST}:${port + 1}`,
      peerAddress: `${HOST}:${port + 2}`,
      dataDir: join(options.dataDir, nodeId),
      configFile: join(options.dataDir, `${nodeId}.yaml`),
      logFile: join(options.dataDir, `${nodeId}.log`),
    }
  })
}

function readSetup(options: LocalOptions): Setup | null {
  const file = join(options.dataDir, SETUP_FILE)
  if (!existsSync(file)) return null
  const setup = JSON.parse(readFileSync(file, 'utf8')) as Setup
  if (setup.nodes !== options.nodes) {
    throw wrongUse(
      `'${options.dataDir}' contains a cluster of ${setup.nodes} nodes, not ${options.nodes}`,
      `Start it with --nodes ${setup.nodes}, or give another folder.`,
    )
  }
  return setup
}

async function createSetup(options: LocalOptions): Promise<Setup> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const keyFile = join(options.dataDir, 'master.key')
  const [otherFile] = readdirSync(options.dataDir).filter((name) => !OWN_FILES.includes(name))
  if (otherFile !== undefined) {
    throw wrongUse(
      `'${options.dataDir}' is not empty and contains no cluster ('${otherFile}' is there)`,
      'Give an empty or new folder.',
    )
  }
  // The folder often lies in a repository, and contains secrets.
  writeFileSync(join(options.dataDir, IGNORE_FILE), '*\n')
  if (!existsSync(keyFile)) await MasterKey.create(keyFile)
  const owner = newAdminToken()
  const setup: Setup = {
    clusterId: randomUUID(),
    nodes: options.nodes,
    ownerToken: owner.token,
    ownerTokenId: owner.tokenId,
    ownerTokenSha256: owner.sha256,
    tenantId: 'demo',
    accessKeyId: null,
    secretKey: null,
  }
  saveSetup(options, setup)
  return setup
}

export function saveSetup(options: LocalOptions, setup: Setup): void {
  writePrivate(join(options.dataDir, SETUP_FILE), setup)
}

/** Until the demo key exists the owner token may not have been granted: the request is written again, which changes nothing. */
async function requestOwnerToken(setup: Setup, plan: readonly NodePlan[]): Promise<void> {
  const first = plan[0]
  if (setup.accessKeyId !== null || !first) return
  const { ownerTokenId: tokenId, ownerTokenSha256: sha256 } = setup
  const token = {
    tokenId,
    name: 'local owner',
    role: 'owner',
    tenantId: null,
    expiresAt: null,
    sha256,
  } as const
  await leaveTokenRequest(first.dataDir, { wish: 'create', token })
}

const RECEIVER_OFFSET = 99

type Sections = Record<string, Record<string, unknown>>

function nodeConfig(setup: Setup, plan: readonly NodePlan[], node: NodePlan): Sections {
  const address = (url: string): string => url.replace('http://', '')
  return {
    node: { id: node.nodeId, data_dir: node.nodeId },
    cluster: {
      id: setup.clusterId,
      members: plan.map(({ nodeId, peerAddress }) => ({ id: nodeId, peer: peerAddress })),
    },
    listeners: { data: address(node.dataUrl), admin: address(node.adminUrl), peer: node.peerAddress },
    security: { master_key_file: 'master.key' },
    metrics: { public: true },
    // A plain origin: older versions, which may be started with these files, know no other form.
    notifications: { allow_http: true, allow_origins: [`http://127.0.0.1:${receiverPort(plan)}`] },
  }
}

/** The port of a receiver of notifications on this machine, for a trial. No node uses it: node ports end in 0, 1 and 2. */
function receiverPort([first]: readonly NodePlan[]): number {
  return Number(new URL(first?.dataUrl ?? '').port) + RECEIVER_OFFSET
}

function overlay(base: Sections, over: unknown): Sections {
  const merged: Sections = { ...base }
  for (const [section, values] of Object.entries((over ?? {}) as Sections))
    merged[section] = { ...base[section], ...values }
  return merged
}

function writeConfigs(options: LocalOptions, setup: Setup, plan: readonly NodePlan[]): void {
  const over: unknown = options.configFile === null ? {} : parse(readFileSync(options.configFile, 'utf8'))
  for (const node of plan) {
    const text = stringify(overlay(nodeConfig(setup, plan, node), over))
    writeFileSync(
      node.configFile,
      `# Written at every start of the local cluster; give your own settings with --config.\n${text}`,
    )
  }
}

/** Creates or finds the cluster of this folder and writes the files that its nodes need to start. */
export async function prepare(options: LocalOptions, plan: readonly NodePlan[]): Promise<Setup> {
  const setup = readSetup(options) ?? (await createSetup(options))
  await requestOwnerToken(setup, plan)
  writeConfigs(options, setup, plan)
  return setup
}
