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
import { checkAudit } from '../../doctor/audit-checks.ts'
import { checkBackups } from '../../doctor/backup-checks.ts'
import { checkListenerTls, checkPeerTls } from '../../doctor/certificate-checks.ts'
import { listenerTlsFacts, peerTlsFacts } from '../../doctor/certificate-facts.ts'
import { type CheckId, CHECKS } from '../../doctor/check-list.ts'
import type { DirectoryFacts } from '../../doctor/directory-checks.ts'
import { directoryFacts, identityFacts } from '../../doctor/directory-facts.ts'
import { checkSpeed } from '../../doctor/disk-checks.ts'
import { disksOf, speedFacts } from '../../doctor/disk-facts.ts'
import { examineData, examineDisks } from '../../doctor/examine-data.ts'
import { error, type Finding, type Severity, well, worst } from '../../doctor/finding.ts'
import { checkMachine } from '../../doctor/machine-checks.ts'
import { machineFacts } from '../../doctor/machine-facts.ts'
import { checkClock, checkListener, checkPeer } from './network-checks.ts'
import { listenerFacts, peerFacts } from './network-facts.ts'
import { checkNode, type NodeFacts } from '../../doctor/node-checks.ts'
import { nodeFacts } from './node-facts.ts'
import { checkPlacement } from '../../doctor/placement-checks.ts'
import { auditFacts, backupFacts, placementFacts } from './status-facts.ts'
import { checkWebhookTargets } from '../../doctor/webhook-checks.ts'

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
    examineData(config, { keyInCluster: keyInCluster(node), directory, ofIdentity }),
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
  const ofDisks = await examineDisks(config, directory)
  const ofSpeeds = await checkSpeeds(config, directory)
  return [
    ...checkNode(node, VERSION),
    ...ofData,
    ...ofDisks,
    ...ofSpeeds,
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

function keyInCluster(node: NodeFacts): string | null {
  return node.kind === 'answering' ? (node.status?.masterKeyFingerprint ?? null) : null
}

async function checkSpeeds(config: Config, directory: DirectoryFacts): Promise<readonly Finding[]> {
  if (directory.kind !== 'directory' || !directory.isWritable) return []
  const findings: Finding[] = []
  for (const path of await disksOf(config.node.dataDir, config.node.blobDirectories))
    findings.push(checkSpeed(await speedFacts(path), config.cluster.electionTimeoutMs))
  return findings
}
