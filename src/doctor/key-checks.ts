/**
 * Judges the master key file and the keys in it.
 *
 * Owns: the judgement. Knows nothing of: the keys; it receives only their fingerprints.
 */
import { error, type Finding, well } from './finding.ts'

export interface KeyFileFacts {
  readonly path: string
  /** Of the keys in the file, the newest first; null if the file is unusable. */
  readonly fingerprints: readonly string[] | null
  readonly failure: { readonly code: string; readonly message: string; readonly hint: string } | null
}

export interface KeyFacts {
  /** Of the keys in the file; null: unknown. */
  readonly inFile: readonly string[] | null
  /** Of the last start on the data directory; null: none. */
  readonly inDirectory: string | null
  /** The key that the cluster encrypts with, according to the running node; null: unknown. */
  readonly inCluster: string | null
}

/** Enough to distinguish keys at a glance. */
const short = (fingerprint: string): string => `${fingerprint.slice(0, 12)}…`

export function checkKeyFile({ path, fingerprints, failure }: KeyFileFacts): Finding {
  if (failure === null)
    return well('master_key_file', `${path} is private and contains ${fingerprints?.length ?? 0} key(s)`)
  return error('master_key_file', {
    found: `${failure.message} (${failure.code})`,
    expected: 'the key file of this cluster, readable only by the user of the node (mode 600)',
    action: failure.hint,
  })
}

export function checkKey({ inFile, inDirectory, inCluster }: KeyFacts): readonly Finding[] {
  if (inFile === null) return []
  const wrong = (fingerprint: string, whose: string, code: string): Finding =>
    error('master_key', {
      found: `the key file contains ${inFile.map(short).join(', ')} (${code})`,
      expected: `${short(fingerprint)}, ${whose}`,
      action:
        'Copy the key file of the cluster to this node; the data directory does not have to be changed.',
    })
  const findings: Finding[] = []
  if (inDirectory !== null && !inFile.includes(inDirectory))
    findings.push(wrong(inDirectory, 'the key of the data directory', 'wrong_fingerprint'))
  if (inCluster !== null && !inFile.includes(inCluster))
    findings.push(wrong(inCluster, 'the key that the cluster encrypts with', 'wrong_master_key'))
  if (findings.length > 0) return findings
  const known = inCluster ?? inDirectory
  const found = known === null ? 'there is no data yet to compare with' : `${short(known)} is in the key file`
  return [well('master_key', found)]
}
