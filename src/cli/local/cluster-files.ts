/**
 * Where `holdfast config create` puts the files of a cluster: all into one folder, or into one for each node beside that of the authority.
 *
 * Owns: names. No I/O. Rule: with folders, that of a node holds everything that this node needs and no key of another, so that it can be
 * mounted or copied whole.
 */
import { join, relative } from 'node:path'
import { type PairFiles, pairFiles } from '../certificates/certificate-files.ts'

export interface NodeFiles {
  readonly config: string
  readonly pair: PairFiles
  /** As the configuration names them, relative to itself. */
  readonly ownPair: { readonly cert: string; readonly key: string }
  /** How its files are named to a reader. */
  readonly all: string
}

export interface ClusterFiles {
  readonly hasFolders: boolean
  readonly authority: PairFiles
  readonly masterKey: string
  readonly node: (nodeId: string) => NodeFiles
  /** That all files are in, the outer ones first. */
  readonly folders: readonly string[]
  /** Those of one node each; none without folders. */
  readonly nodeFolders: readonly string[]
  /** Of all files that a cluster cannot do without, relative to the outermost folder: the key of the authority may be kept elsewhere. */
  readonly names: readonly string[]
}

const MASTER_KEY = 'master.key'
/** The folder of what is for the operator, and the name of the pair in it: no node can have this id. */
export const AUTHORITY = 'ca'

export function clusterFiles(dir: string, nodeIds: readonly string[], hasFolders: boolean): ClusterFiles {
  const shared = hasFolders ? join(dir, AUTHORITY) : dir
  const authority = pairFiles(shared, AUTHORITY)
  const masterKey = join(shared, MASTER_KEY)
  const nodeFolders = hasFolders ? nodeIds.map((nodeId) => join(dir, nodeId)) : []
  const node = (nodeId: string): NodeFiles => nodeFiles(dir, nodeId, hasFolders)
  const ofNodes = nodeIds.flatMap((nodeId) => {
    const { config, pair } = node(nodeId)
    return [config, pair.certificate, pair.key]
  })
  const copies = nodeFolders.flatMap((folder) => [
    pairFiles(folder, AUTHORITY).certificate,
    join(folder, MASTER_KEY),
  ])
  const files = [authority.certificate, masterKey, ...ofNodes, ...copies]
  return {
    hasFolders,
    authority,
    masterKey,
    node,
    folders: [...new Set([dir, shared, ...nodeFolders])],
    nodeFolders,
    names: files.map((file) => relative(dir, file)),
  }
}

function nodeFiles(dir: string, nodeId: string, hasFolders: boolean): NodeFiles {
  const folder = hasFolders ? join(dir, nodeId) : dir
  const name = hasFolders ? 'node' : nodeId
  return {
    config: join(folder, `${name}.yaml`),
    pair: pairFiles(folder, name),
    ownPair: { cert: `${name}.pem`, key: `${name}.key` },
    all: hasFolders ? folder : join(folder, `${name}.*`),
  }
}
