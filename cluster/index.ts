/**
 * The only door of cluster/. src/ imports this file and nothing deeper.
 */
export * from './types.ts'
export { createCluster } from './cluster.ts'
