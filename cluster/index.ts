/**
 * The public interface of cluster/: src/ imports this file and nothing deeper.
 */
export * from './base/types.ts'
export {
  LATENCY_BOUNDS,
  type LatencyFigures,
  LatencyHistogram,
  sumOfFigures,
} from './base/latency-histogram.ts'
export { counter, gauge, histogram } from './base/metric-samples.ts'
export type { NodeReport, Reports } from './base/report-port.ts'
export { type GossipChannel, GOSSIP_BYTES_MAX, GOSSIP_EVERY_MS } from './base/gossip-channel.ts'
export {
  cipherOf,
  METADATA_KEY_BYTES,
  METADATA_KEY_FILE,
  type MetadataCipher,
  SEALED_OVERHEAD,
} from './base/metadata-cipher.ts'
export { BLOB_LIMITS } from './blobs/base/blob-limits.ts'
export { placeReplicas } from './placement/rendezvous.ts'
export { createCluster } from './cluster.ts'
export { examineBlobDirectories } from './blobs/disks/found-disks.ts'
export { PLACES_MAX as DISK_PLACES_MAX } from './disk-orders.ts'
export { drainDisk, type PreparedDisk, prepareDisk } from './blobs/disks/prepare-disk.ts'
export { diskLevel, type DiskThreshold, type DiskThresholds, usedShare } from './base/disk-level.ts'
export { syncDirectory, usableSpace } from './base/file-ops.ts'
export { beatTime } from './base/system-clock.ts'
export type { MemberDoubt } from './base/member-doubt.ts'
export { expulsionOf, expulsionText } from './node/base/expulsion.ts'
export { declareCurrent, notedState } from './raft-half/disk-proof-file.ts'
export type { ProofState } from './node/disk-proof/disk-verdict.ts'
export { type Bound, bindToPlan } from './quorum-recovery/apply-plan.ts'
export type { NodeFacts } from './quorum-recovery/node-facts.ts'
export { type PlanRefusal, planRecovery, type RecoveryDecision } from './quorum-recovery/recovery-plan.ts'
export { orderSkip } from './quorum-recovery/skip-order.ts'
export { planSkip, type SkipDecision, type SkipRefusal } from './quorum-recovery/skip-plan.ts'
export { SkipFile } from './quorum-recovery/skip-file.ts'
export type { Rehearsal } from './quorum-recovery/rehearsal.ts'
export {
  foundersPlacement,
  foundersRecord,
  recordFacts,
  RestoredNode,
  type RestoredOptions,
} from './restored-node.ts'
export { StoppedNode } from './quorum-recovery/stopped-node.ts'
export { findIdentity, type Identity } from './directory/identity.ts'
export { examineDirectory, findRemovalNotice, isWaiting } from './directory/open-directory.ts'
export { type PeerProbe, probePeer } from './transport/peer-probe.ts'
export { isLoopbackAddress } from './transport/peer-address.ts'
export {
  alternativeNames,
  certificateNames,
  clusterUri,
  identityOf,
  nodeUri,
} from './transport/certificate-identity.ts'
export { examinePeerTls } from './transport/peer-tls.ts'
export { CertificateFiles, lookAtCertificates } from './transport/certificate-files.ts'
export { certificateSamples } from './transport/certificate-samples.ts'
