/**
 * The checks of the data directory, the master key and the disks: of a stopped node and of a running one.
 *
 * Owns: which facts these checks need. Rule: files are only read, and no database is opened.
 */
import type { Config } from '../config/types.ts'
import {
  checkDirectory,
  checkIdentity,
  checkSkips,
  checkStateFormat,
  type DirectoryFacts,
} from './directory-checks.ts'
import { agreedKeyOf, type identityFacts, skipFacts, stateFacts } from './directory-facts.ts'
import { checkBlobDirectories, checkFilesystem, checkSpace } from './disk-checks.ts'
import { devicesOf, diskFacts, disksOf } from './disk-facts.ts'
import type { Finding } from './finding.ts'
import { checkKey, checkKeyFile } from './key-checks.ts'
import { keyFileFacts } from './key-facts.ts'

export interface DataFacts {
  /** The fingerprint of the key that the cluster encrypts with; null: unknown. */
  readonly keyInCluster: string | null
  readonly directory: DirectoryFacts
  readonly ofIdentity: Awaited<ReturnType<typeof identityFacts>>
}

export async function examineData(
  config: Config,
  { keyInCluster, directory, ofIdentity }: DataFacts,
): Promise<readonly Finding[]> {
  const { dataDir, id: nodeId } = config.node
  const keyFile = await keyFileFacts(config.security)
  const findings = [...checkDirectory(directory), checkKeyFile(keyFile)]
  const keys = {
    inFile: keyFile.fingerprints,
    inDirectory: await agreedKeyOf(dataDir, ofIdentity),
    inCluster: keyInCluster,
  }
  findings.push(...checkKey(keys))
  if (directory.kind !== 'directory' || !directory.isWritable) return findings
  const expected = { clusterId: config.cluster.id, nodeId }
  findings.push(
    ...checkIdentity({ ...ofIdentity, expected }),
    ...checkStateFormat(await stateFacts(dataDir)),
    ...checkSkips(skipFacts(dataDir, config.cluster.id)),
  )
  return findings
}

/** Space, kind and place of each disk; not how fast it is, which needs writes. */
export async function examineDisks(config: Config, directory: DirectoryFacts): Promise<readonly Finding[]> {
  if (directory.kind !== 'directory' || !directory.isWritable) return []
  const findings: Finding[] = []
  const { dataDir, blobDirectories } = config.node
  for (const path of await disksOf(dataDir, blobDirectories)) {
    const facts = await diskFacts(path)
    findings.push(...checkSpace(facts, config.disk), checkFilesystem(facts))
  }
  const devices = await devicesOf([dataDir, ...blobDirectories])
  return [...findings, ...checkBlobDirectories(dataDir, blobDirectories, devices)]
}
