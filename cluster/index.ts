/**
 * The only door of cluster/. src/ imports this file and nothing deeper.
 */
export * from './types.ts'
export { createCluster } from './cluster.ts'
export { alternativeNames, clusterUri, identityOf, nodeUri } from './transport/certificate-identity.ts'
export { CertificateFiles } from './transport/certificate-files.ts'
export { certificateSamples } from './transport/certificate-samples.ts'
