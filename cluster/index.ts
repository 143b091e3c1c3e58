/**
 * The only door of cluster/. src/ imports this file and nothing deeper.
 */
export * from './types.ts'
export { createCluster } from './cluster.ts'
export { diskLevel } from './blobs/disk-level.ts'
export { type Bound, bindToPlan } from './recovery/apply-plan.ts'
export type { NodeFacts } from './recovery/node-facts.ts'
export { type PlanRefusal, planRecovery, type RecoveryDecision } from './recovery/recovery-plan.ts'
export { type Rehearsal, StoppedNode } from './recovery/stopped-node.ts'
export { findIdentity, type Identity } from './identity.ts'
export { findFarewell } from './membership/beginning.ts'
export { type PeerProbe, probePeer } from './transport/peer-probe.ts'
export { requireLoopback } from './transport/peer-address.ts'
export {
  alternativeNames,
  certificateNames,
  clusterUri,
  identityOf,
  nodeUri,
} from './transport/certificate-identity.ts'
export { CertificateFiles } from './transport/certificate-files.ts'
export { certificateSamples } from './transport/certificate-samples.ts'
