/**
 * One run of the doctor: collects the facts, judges them, and skips checks whose facts are unavailable.
 *
 * Owns: which facts are collected, and what a check needs. Knows nothing of: the printed text.
 * Rule: the only change on the disk is the temporary file of the disk speed; no database is opened.
 */
import { sentenceOf } from '../../config/config-fault.ts'
import { type Environment, examineConfig } from '../../config/load-config.ts'
import { plainListeners } from '../../config/plain-listeners.ts'
import type { Config } from '../../config/types.ts'
import { VERSION } from '../../base/version.ts'
import { checkAudit } from './audit-checks.ts'
import { checkBackups } from './backup-checks.ts'
import { checkListenerTls, checkPeerTls } from './certificate-checks.ts'
import { listenerTlsFacts, peerTlsFacts } from './certificate-facts.ts'
import { type CheckId, CHECKS } from './check-list.ts'
import {
  checkDirectory,
  checkIdentity,
  checkSkips,
  checkStateFormat,
  type DirectoryFacts,
} from './directory-checks.ts'
import { agreedKeyOf, directoryFacts, identityFacts, skipFacts, stateFacts } from './directory-facts.ts'
import { checkBlobDirectories, checkFilesystem, checkSpace, checkSpeed } from './disk-checks.ts'
import { devicesOf, diskFacts, disksOf, speedFacts } from './disk-facts.ts'
import { error, type Finding, type Severity, well, worst } from './finding.ts'
import { checkKey, checkKeyFile } from './key-checks.ts'
import { keyFileFacts } from './key-facts.ts'
import { checkMachine } from './machine-checks.ts'
import { machineFacts } from './machine-facts.ts'
import { checkClock, checkListener, checkPeer } from './network-checks.ts'
import { listenerFacts, peerFacts } from './network-facts.ts'
import { checkNode, type NodeFacts } from './node-checks.ts'
import { nodeFacts } from './node-facts.ts'
import { checkPlacement } from './placement-checks.ts'
import { auditFacts, backupFacts, placementFacts } from './status-facts.ts'
import { checkWebhookTargets } from './webhook-checks.ts'

export interface Examination {
  /** The worst of all findings. */
  readonly status: Severity
  readonly configFile: string
  /** Null when the configuration does not contain it. */
  readonly nodeId: string | null
  readonly node: NodeFacts['kind'] | 'unknown'
  /** In the order of the list; one or more for each check that ran. */
  readonly findings: readonly Finding[]
  /** Checks that could not run because of the findings of others. */
  readonly notChecked: readonly CheckId[]
}

export async function examine(configFile: string, environment: Environment): Promise<Examination> {
  const { config, faults } = examineConfig(configFile, environment)
  const node = config === null ? null : await nodeFacts(config.node.dataDir)
  const findings = [...(await checkWithout(node)), ...(await checkConfigured(config, node))]
  if (config !== null) findings.push(well('configuration', `${configFile} has no fault`))
  for (const fault of faults)
    findings.push(
      error('configuration', {
        found: sentenceOf(fault),
        expected: 'a configuration as in docs/configuration.md',
        action: fault.hint,
      }),
    )
  const ordered = CHECKS.flatMap(({ id }) => findings.filter(({ check }) => check === id))
  return {
    status: worst(findings),
    configFile,
    nodeId: config?.node.id ?? null,
    node: node?.kind ?? 'unknown',
    findings: ordered,
    notChecked: CHECKS.map(({ id }) => id).filter((id) => !findings.some(({ check }) => check === id)),
  }
}

/** The checks that need no configuration. */
async function checkWithout(node: NodeFacts | null): Promise<readonly Finding[]> {
  return checkMachine(await machineFacts(node === null ? null : pidOf(node)))
}

function pidOf(node: NodeFacts): number | null {
  if (node.kind === 'silent') return node.pid
  return node.kind === 'answering' ? (node.status?.pid ?? null) : null
}

async function checkConfigured(config: Config | null, node: NodeFacts | null): Promise<readonly Finding[]> {
  if (config === null || node === null) return []
  const directory = await directoryFacts(config.node.dataDir)
  const ofIdentity = await identityFacts(config.node.dataDir)
  const [ofData, ofPeers, listeners, tls, listenerTls, audit, backups, placement] = await Promise.all([
    checkData(config, { node, directory, ofIdentity }),
    peerFacts(config),
    listenerFacts(config, node),
    peerTlsFacts(config),
    listenerTlsFacts(config),
    auditFacts(config.node.dataDir, node),
    backupFacts(config.node.dataDir, node),
    placementFacts(config.node.dataDir, node),
  ])
  const isFirstStart = node.kind === 'stopped' && ofIdentity.identity === null && ofIdentity.failure === null
  // After the other checks: concurrent work of this process would make the disk look slow.
  const ofDisks = await checkDisks(config, directory)
  return [
    ...checkNode(node, VERSION),
    ...ofData,
    ...ofDisks,
    ...checkPeerTls(tls, config.node.id, Date.now()),
    ...checkListenerTls(listenerTls, plainListeners(config), Date.now()),
    ...listeners.map(checkListener),
    ...checkWebhookTargets(config.notifications),
    ...peersOrNone(
      config,
      ofPeers.map((peer) => checkPeer(peer, isFirstStart)),
    ),
    ...checkClock(ofPeers, config.cluster.clockSkewMaxMs),
    ...checkAudit(audit),
    ...checkBackups(backups),
    ...checkPlacement(placement),
  ]
}

function peersOrNone({ cluster }: Config, findings: readonly Finding[]): readonly Finding[] {
  return cluster.members.length > 1 ? findings : [well('peers', 'this node is the only member')]
}

interface DataFacts {
  readonly node: NodeFacts
  readonly directory: DirectoryFacts
  readonly ofIdentity: Awaited<ReturnType<typeof identityFacts>>
}

async function checkData(
  config: Config,
  { node, directory, ofIdentity }: DataFacts,
): Promise<readonly Finding[]> {
  const { dataDir, id: nodeId } = config.node
  const keyFile = await keyFileFacts(config.security)
  const findings = [...checkDirectory(directory), checkKeyFile(keyFile)]
  const status = node.kind === 'answering' ? node.status : null
  const isThere = directory.kind === 'directory' && directory.isWritable
  const keys = {
    inFile: keyFile.fingerprints,
    inDirectory: await agreedKeyOf(dataDir, ofIdentity),
    inCluster: status?.masterKeyFingerprint ?? null,
  }
  findings.push(...checkKey(keys))
  if (!isThere) return findings
  const expected = { clusterId: config.cluster.id, nodeId }
  findings.push(
    ...checkIdentity({ ...ofIdentity, expected }),
    ...checkStateFormat(await stateFacts(dataDir)),
    ...checkSkips(skipFacts(dataDir, config.cluster.id)),
  )
  return findings
}

async function checkDisks(config: Config, directory: DirectoryFacts): Promise<readonly Finding[]> {
  if (directory.kind !== 'directory' || !directory.isWritable) return []
  const findings: Finding[] = []
  const { dataDir, blobDirectories } = config.node
  for (const path of await disksOf(dataDir, blobDirectories)) {
    const facts = await diskFacts(path)
    const speed = checkSpeed(await speedFacts(path), config.cluster.electionTimeoutMs)
    findings.push(...checkSpace(facts, config.disk), speed, checkFilesystem(facts))
  }
  const devices = await devicesOf([dataDir, ...blobDirectories])
  return [...findings, ...checkBlobDirectories(dataDir, blobDirectories, devices)]
}
