/**
 * Judges the data directory: permissions, owner, identity, format.
 *
 * Owns: the judgement. Knows nothing of: the disk; facts are passed in.
 */
import type { Identity } from '../../cluster/index.ts'
import type { StateOnDisk } from '../store/state/state-inspection.ts'
import { error, type Finding, warning, well } from './finding.ts'

export interface DirectoryFacts {
  readonly path: string
  /** The kind of file at the path. */
  readonly kind: 'directory' | 'other' | 'nothing' | 'unreachable'
  /** The permission bits; 0 where there is nothing. */
  readonly mode: number
  readonly isOwn: boolean
  /** Of the directory, or if it does not exist, of the nearest directory above it. */
  readonly isWritable: boolean
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0')

export function checkDirectory({ path, kind, mode, isOwn, isWritable }: DirectoryFacts): readonly Finding[] {
  const expected = 'a directory that the user of the node owns and no other user can enter (mode 700)'
  const problem = (found: string, action: string): readonly Finding[] => [
    error('data_dir', { found, expected, action }),
  ]
  if (kind === 'nothing' && isWritable) return [well('data_dir', `${path} is created at the first start`)]
  if (kind === 'nothing')
    return problem(
      `${path} does not exist and this user cannot create it`,
      `Create it: mkdir -m 700 ${path}, as the user of the node.`,
    )
  if (kind === 'other') return problem(`${path} is not a directory`, 'Set node.data_dir to a directory.')
  if (kind === 'unreachable')
    return problem(
      `this user cannot examine ${path}`,
      'Run this as the user of the node, or give that user permission to enter the folders above.',
    )
  if (!isWritable || (mode & 0o700) !== 0o700)
    return problem(
      `${path} has mode ${octal(mode)}, and this user cannot read and write it`,
      `Run chown to give the directory to the user of the node, and chmod 700 ${path}`,
    )
  if ((mode & 0o022) !== 0)
    return problem(
      `${path} has mode ${octal(mode)}: other users can put files into it and so create admin tokens (data_dir_exposed)`,
      `Look for files that the node did not write, then run: chmod 700 ${path}`,
    )
  const warnings: Finding[] = []
  if ((mode & 0o055) !== 0)
    warnings.push(
      warning('data_dir', {
        found: `${path} has mode ${octal(mode)}: other users can read it`,
        expected,
        action: `Run: chmod 700 ${path}`,
      }),
    )
  if (!isOwn)
    warnings.push(
      warning('data_dir', {
        found: `${path} belongs to another user`,
        expected,
        action: 'Run this as the user of the node, or chown the directory.',
      }),
    )
  return warnings.length > 0 ? warnings : [well('data_dir', `${path} has mode ${octal(mode)}`)]
}

export interface IdentityFacts {
  readonly identity: Identity | null
  /** Why it could not be read: code, sentence and hint of a StartError. */
  readonly failure: { readonly code: string; readonly message: string; readonly hint: string } | null
  /** Why the other members refuse this directory for good; null: it has no removal notice. */
  readonly removalNotice: string | null
  readonly expected: { readonly clusterId: string; readonly nodeId: string }
}

export function checkIdentity({
  identity,
  failure,
  removalNotice,
  expected,
}: IdentityFacts): readonly Finding[] {
  const expectedIdentity = `identity.json of node ${expected.nodeId} of cluster ${expected.clusterId}`
  if (failure !== null)
    return [
      error('identity', {
        found: `${failure.message} (${failure.code})`,
        expected: expectedIdentity,
        action: failure.hint,
      }),
    ]
  if (identity === null) return [well('identity', 'the directory has not been used yet')]
  const findings: Finding[] = []
  if (identity.clusterId !== expected.clusterId)
    findings.push(
      error('identity', {
        found: `the data belongs to cluster ${identity.clusterId} (foreign_cluster)`,
        expected: `cluster.id ${expected.clusterId}, as configured`,
        action:
          'Point node.data_dir to the directory of this cluster, or correct cluster.id. Do not change the directory.',
      }),
    )
  if (identity.nodeId !== expected.nodeId)
    findings.push(
      error('identity', {
        found: `the data belongs to node ${identity.nodeId} (foreign_node)`,
        expected: `node.id ${expected.nodeId}, as configured`,
        action:
          'Point node.data_dir to the directory of this node, or correct node.id. Do not change the directory.',
      }),
    )
  if (removalNotice !== null)
    findings.push(
      error('identity', {
        found: removalNotice,
        expected: 'a data directory that the other members accept',
        action:
          'Leave the node stopped and keep the directory until you are sure that it is not needed; it cannot rejoin.',
      }),
    )
  if (findings.length > 0) return findings
  return [well('identity', `node ${identity.nodeId} of cluster ${identity.clusterId}`)]
}

export interface SkipFacts {
  readonly skips: readonly { readonly planId: string; readonly index: number; readonly term: number }[]
  readonly failure: IdentityFacts['failure']
}

export function checkSkips({ skips, failure }: SkipFacts): readonly Finding[] {
  if (failure !== null)
    return [
      error('skipped_entries', {
        found: `${failure.message.replace(/^Cannot start: /, '')} (${failure.code})`,
        expected: 'skipped-entries.json as holdfast recover skip-entry apply wrote it, or no such file',
        action: failure.hint,
      }),
    ]
  if (skips.length === 0) return [well('skipped_entries', 'no entry is skipped')]
  const entries = skips.map(({ planId, index, term }) => `${index} of term ${term} (${planId})`)
  return [well('skipped_entries', `by order of an operator: entry ${entries.join(', entry ')}`)]
}

export function checkStateFormat({ format, known, fault, quarantined }: StateOnDisk): readonly Finding[] {
  const expected = `format ${known}, which this build writes`
  if (fault !== null)
    return [
      error('state_format', {
        found: fault,
        expected,
        action:
          'Start the node: it fetches the state from other nodes; keep a copy of the directory if it cannot.',
      }),
    ]
  if (format === null) return [well('state_format', 'there is no state yet')]
  if (format !== known) {
    const isNewer = format > known
    const action = isNewer
      ? 'Start the newer build that wrote it. Never start an older build on it.'
      : 'Start the build that wrote it; or, with the other nodes running, move state/ away so that this node fetches it again.'
    return [
      error('state_format', {
        found: `the state has format ${format}${isNewer ? ', of a newer build' : ''} (state_format_foreign)`,
        expected,
        action,
      }),
    ]
  }
  if (quarantined === null) return [well('state_format', `format ${format}`)]
  return [
    warning('state_format', {
      found: `the state is quarantined: ${quarantined}`,
      expected: 'a state that is not quarantined',
      action:
        'Keep the other nodes running: the node fetches the state from them. If this happens again, check the disk.',
    }),
  ]
}
