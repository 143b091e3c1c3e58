/**
 * The reference page of all errors that prevent the start of a node or an offline command.
 *
 * Owns: the meaning of each code and what to do. Run as a program it writes docs/start-errors.md.
 * Rule: test/house/documents.test.ts compares the codes with those in the sources, in both directions.
 */
import { writeFileSync } from 'node:fs'

interface StartErrorHelp {
  /** The problem, in short. */
  readonly meaning: string
  readonly action: string
}

interface OnlyAStart {
  readonly reason: string
  readonly codes: readonly string[]
}

/** What `holdfast config check` cannot find, and why. */
export const ONLY_A_START: readonly OnlyAStart[] = [
  {
    reason:
      'The machine decides it at the moment of the start: who listens on a port, which addresses there are, who holds the directory, how full the disk is. A check beside the running node would meet that node.',
    codes: [
      'address_in_use',
      'listen_failed',
      'peer_listen_failed',
      'data_dir_in_use',
      'state_locked',
      'state_unusable',
    ],
  },
  {
    reason:
      'It is in the log, the state or a record beside them. Reading them takes as long as a start, and nothing else may read them while the node runs.',
    codes: [
      'master_key_needed',
      'metadata_key_unopened',
      'metadata_key_malformed',
      'metadata_key_mismatch',
      'damaged_recovery',
      'damaged_skips',
      'apply_failed',
      'log_foreign',
      'log_damaged',
      'log_unreadable',
      'log_missing',
      'state_format_foreign',
      'feature_level_too_high',
    ],
  },
  {
    reason: 'It shows when the provider of the master key is asked, over the network.',
    codes: ['key_provider_unreachable', 'key_provider_denied', 'key_provider_failed', 'master_key_mismatch'],
  },
  {
    reason: 'It shows when this node compares itself with the other nodes, over the network.',
    codes: ['wrong_master_key', 'stale_epoch', 'history_contradicted', 'cannot_mend', 'invalid_peer_address'],
  },
]

/** Of the offline commands, and of no start. */
export const OF_COMMANDS: readonly string[] = [
  'master_key_exists',
  'master_key_unwritable',
  'skip_ordered',
  'already_applied',
  'states_differ',
  'not_comparable',
  'report_unusable',
  'too_many_skips',
  'plan_pending',
  'plan_outdated',
  'node_changed',
  'paper_unreadable',
  'seal_broken',
  'audit_unwritable',
  'same_cluster',
]

const SAME_AS = (code: string): string => `As for \`${code}\`.`
const RECOVERY: StartErrorHelp = {
  meaning: '`holdfast recover` refuses a plan or a report on this node.',
  action: 'Follow the hint of the error; see [the runbook](../deploy/runbooks/lost-quorum.md).',
}
const SKIPPING: StartErrorHelp = {
  meaning: '`holdfast recover skip-entry` refuses a plan on this node.',
  action: 'Follow the hint of the error; see [the runbook](../deploy/runbooks/skip-entry.md).',
}
const FOREIGN: StartErrorHelp = {
  meaning: 'The data directory belongs to another node or another cluster.',
  action: 'Set `node.data_dir` to the directory of this node.',
}
const WRONG_KEY: StartErrorHelp = {
  meaning: 'The key file does not contain the master key of this data, or of this cluster.',
  action: 'Copy the key file of the cluster to this node.',
}

export const START_ERRORS: Readonly<Record<string, StartErrorHelp>> = {
  invalid_config: {
    meaning: 'A setting is unknown, missing or wrong.',
    action: 'Correct the lines that the error names; `holdfast config check` reports the same faults.',
  },
  address_in_use: {
    meaning: 'Another program listens on that address.',
    action: 'Stop that program, or use another port; for `npm start`: `--base-port`.',
  },
  listen_failed: {
    meaning: 'This machine cannot listen on that address.',
    action: 'Use an address of this machine, and a port that this user may open.',
  },
  peer_listen_failed: {
    meaning: 'This machine cannot listen on its peer address.',
    action: SAME_AS('listen_failed'),
  },
  invalid_peer_address: {
    meaning: 'A peer address is not `host:port`.',
    action: 'Correct `cluster.members`.',
  },
  peer_tls_required: {
    meaning: 'Traffic to a peer on another machine would be unencrypted.',
    action: 'Set `peer_tls`, or use 127.0.0.1 for a trial.',
  },
  peer_tls_unreadable: {
    meaning: 'A file of `peer_tls` cannot be read.',
    action: 'Check the paths and the permissions of the files.',
  },
  peer_tls_invalid: {
    meaning: 'The files of `peer_tls` are not a certificate and a key, or do not belong together.',
    action: 'Create a pair with `holdfast certs issue`.',
  },
  peer_certificate_wrong_name: {
    meaning: 'The certificate does not name this node of this cluster.',
    action:
      'Check its names with `holdfast certs show`; create a new certificate with `holdfast certs issue --node <node id>`.',
  },
  log_in_unusable: {
    meaning:
      'A file of `console.oidc` cannot be read, other users can open the secret, or it does not hold what it should.',
    action: 'Correct the setting or the file; [the guide](guide/log-in.md) shows a whole configuration.',
  },
  audit_export_unusable: {
    meaning: 'A file of `audit.export` cannot be read, or the secret in it is not one.',
    action:
      'Correct the setting or the file; [the guide](guide/audit.md#the-log-outside-of-the-cluster) shows each form.',
  },
  listener_tls_required: {
    meaning: 'The data or admin listener would serve other machines over plain HTTP.',
    action:
      'Set `data_tls` or `admin_tls`; or, if a proxy ends TLS or the network is private, `listeners.data_plain` or `listeners.admin_plain`.',
  },
  listener_tls_unreadable: {
    meaning: 'A file of `data_tls` or `admin_tls` cannot be read.',
    action: SAME_AS('peer_tls_unreadable'),
  },
  listener_tls_invalid: {
    meaning:
      'The files of `data_tls` or `admin_tls` are not a certificate and a key, or do not belong together.',
    action: SAME_AS('peer_tls_invalid'),
  },
  master_key_missing: {
    meaning: 'The key file does not exist.',
    action:
      'Copy the key file of the cluster to this node; for a new cluster run `holdfast master-key create`.',
  },
  master_key_malformed: {
    meaning: 'The key file does not contain a key.',
    action: 'Copy the key file of the cluster to this node again.',
  },
  master_key_exposed: { meaning: 'Other users can read the key file.', action: '`chmod 600` it.' },
  master_key_exists: {
    meaning: '`holdfast master-key create` does not overwrite a file.',
    action: 'Use the existing key, or give another path.',
  },
  master_key_unwritable: {
    meaning: 'The key file cannot be written.',
    action: 'Use a folder that this user may write to.',
  },
  master_key_wrong_provider: {
    meaning: 'The key file is wrapped by another provider than the settings name, or not at all.',
    action:
      'Correct `security.master_key_provider`, or [move the file](../deploy/runbooks/move-master-key.md).',
  },
  key_provider_unusable: {
    meaning: 'A file that the settings of the provider name cannot be read, or holds something else.',
    action: 'Correct the setting or the file; [the guide](guide/master-key.md) shows each form.',
  },
  key_provider_unreachable: {
    meaning: 'The provider of the master key did not answer for `security.master_key_wait`.',
    action: 'Bring the provider back, and start the node again.',
  },
  key_provider_denied: {
    meaning: 'The provider does not let this node use its key.',
    action: 'Give the node another credential, or its role [the policy it needs](guide/master-key.md#vault).',
  },
  key_provider_failed: {
    meaning: 'The provider knows no such key, or what answers is no provider.',
    action: 'Compare address, mount and name of the key with those of the other nodes.',
  },
  master_key_mismatch: {
    meaning: 'The provider opened a line of the key file to something that is not the key of this line.',
    action: 'Compare the settings with those of the other nodes, and the key file with its backup.',
  },
  master_key_needed: {
    meaning: 'Data is still encrypted with a key that was removed from the key file.',
    action: 'Add the line of that key again; see [the runbook](../deploy/runbooks/rotate-master-key.md).',
  },
  metadata_key_unopened: {
    meaning:
      'No master key of this node opens `metadata-key.json`, with which the metadata of this directory is sealed.',
    action:
      'Add the line of the master key of its last start again; see [the runbook](../deploy/runbooks/seal-metadata.md).',
  },
  metadata_key_malformed: {
    meaning: '`metadata-key.json` is damaged.',
    action: 'Put back a copy of exactly this file; while the other nodes run, replace this node.',
  },
  metadata_key_mismatch: {
    meaning: '`node.seal_metadata` or `metadata-key.json` does not fit what is in the data directory.',
    action:
      'Correct the setting, or put back the files that belong together; see [the runbook](../deploy/runbooks/seal-metadata.md).',
  },
  wrong_fingerprint: WRONG_KEY,
  wrong_master_key: WRONG_KEY,
  unknown_member: {
    meaning: 'This node is not in `cluster.members`.',
    action: 'Add it before the first start, or start it with `--join`.',
  },
  data_not_empty: {
    meaning:
      '`--join` was given, or a backup is restored, but the data directory belongs to a member or contains a foreign file.',
    action:
      'Start without `--join`, or with an empty directory. A member that left the cluster needs a new name.',
  },
  same_cluster: {
    meaning: 'A backup is restored into a cluster with the id of the cluster that made it.',
    action: 'Give the restored cluster an id of its own in `cluster.id`.',
  },
  members_unreadable: {
    meaning: '`members.json` exists but cannot be read: missing permissions, or a failing disk.',
    action: 'Let this user read it; if the disk fails, replace the node.',
  },
  damaged_members: {
    meaning: '`members.json` cannot be parsed.',
    action: 'Restore it from a backup, or let the machine join under another name.',
  },
  damaged_recovery: {
    meaning: '`recovery.json` cannot be parsed.',
    action: SAME_AS('damaged_members'),
  },
  damaged_skips: {
    meaning: '`skipped-entries.json` cannot be parsed.',
    action: 'Copy it from another node.',
  },
  apply_failed: {
    meaning: 'An entry of the log cannot be applied; the message names it.',
    action:
      'If other nodes continue, start their version. If all nodes stop at that entry, keep all directories; see [the runbook](../deploy/runbooks/skip-entry.md).',
  },
  skip_ordered: SKIPPING,
  already_applied: SKIPPING,
  states_differ: SKIPPING,
  not_comparable: SKIPPING,
  report_unusable: SKIPPING,
  too_many_skips: SKIPPING,
  plan_pending: RECOVERY,
  plan_outdated: RECOVERY,
  node_changed: RECOVERY,
  paper_unreadable: RECOVERY,
  seal_broken: RECOVERY,
  audit_unwritable: {
    meaning: '`holdfast recover trust-disk` cannot write its audit row.',
    action: 'Let this user write to the data directory, and free space on its disk.',
  },
  stale_epoch: {
    meaning: 'The cluster was recovered from a lost quorum without this node.',
    action:
      'Move its data directory away and keep it, and let the machine join under another name; see [the runbook](../deploy/runbooks/lost-quorum.md).',
  },
  foreign_cluster: FOREIGN,
  foreign_node: FOREIGN,
  log_foreign: FOREIGN,
  data_dir_in_use: { meaning: 'Another process uses the data directory.', action: 'Stop that process.' },
  blob_directory_unusable: {
    meaning:
      'A directory of `node.blob_directories` does not exist, is not empty although the node never used it, or has the disk of another node.',
    action: 'Follow the hint of the error; see [several disks](guide/disks.md).',
  },
  data_dir_unusable: {
    meaning: 'The data directory cannot be created, read or written.',
    action: 'Check that the disk is mounted and that this user has permission.',
  },
  data_dir_exposed: {
    meaning: 'Other users can write to the data directory, or can read it and this user cannot change that.',
    action: 'Look for files that the node did not write, then `chmod 700` the directory as its owner.',
  },
  identity_missing: {
    meaning: 'There is data, but no `identity.json`, which names its node and cluster.',
    action: 'Restore `identity.json` from a backup, or move the whole directory away.',
  },
  damaged_identity: {
    meaning: '`identity.json` cannot be parsed.',
    action: SAME_AS('identity_missing'),
  },
  log_damaged: {
    meaning: 'Bytes of the Raft log changed on disk.',
    action: 'Keep a copy; restore exactly that file, never an older version of it. The other nodes continue.',
  },
  log_unreadable: {
    meaning: 'Entries of the Raft log could not be read while the node ran.',
    action:
      'Start it again: it fetches them from the other nodes. Check its disk; see [the runbook](../deploy/runbooks/unreadable-disk.md).',
  },
  log_missing: {
    meaning: 'The log was lost, or only the state was restored.',
    action: 'Restore both together; never start with only one of them.',
  },
  state_unusable: {
    meaning: 'The files of the state cannot be used: missing permissions, or a full disk.',
    action: 'Let this user read and write `state/`, and free space.',
  },
  state_locked: { meaning: 'Another process has the state open.', action: 'Stop that process.' },
  state_format_foreign: {
    meaning: 'Another build wrote the state.',
    action: 'Start that build; or, while the other nodes run, move `state/` away.',
  },
  history_contradicted: {
    meaning: 'The log of this node and that of the leader differ in committed entries: a disk went back.',
    action: 'Keep the directory and stop all nodes; see [the runbook](../deploy/runbooks/disk-went-back.md).',
  },
  cannot_mend: {
    meaning: 'Log or state are damaged, and the group has no other node to repair them from.',
    action: 'Restore the data directory from a backup.',
  },
  feature_level_too_high: {
    meaning: 'The state has a feature level that this version does not know.',
    action: 'Start a version that knows it; see [upgrades](../deploy/runbooks/rolling-upgrade.md).',
  },
}

const INTRODUCTION = `# Errors that prevent the start of a node

A node that cannot start prints one of these codes with a message and what to do, and changes nothing on disk. The offline commands of
\`holdfast recover\` and \`holdfast master-key\` use the same codes. This page is generated from
[\`start-errors.ts\`](../scripts/pages/start-errors.ts) by \`node scripts/pages/start-errors.ts\`; do not edit it. Errors of the APIs are in
[errors.md](errors.md).

\`holdfast config check --config n1.yaml\`, run as the user of the node, refuses with the same code, sentence and hint what a start refuses; "check"
in the last column marks these codes. It changes nothing and uses no network; \`--join\` checks for a start with \`--join\`, \`--settings-only\` looks at no
file that the settings name. [What only a start can find](#what-only-a-start-can-find) is listed below. [The doctor](doctor.md) also looks at ports, disks, clocks
and the other nodes.

| code | what it means | what to do | found by |
|---|---|---|---|
`

const START_ONLY_TITLE = `
## What only a start can find

`

/** One row for each code, in the order of a start. */
export function startErrorsPage(): string {
  const rows = Object.entries(START_ERRORS).map(
    ([code, { meaning, action }]) => `| \`${code}\` | ${meaning} | ${action} | ${foundBy(code)} |\n`,
  )
  const reasons = ONLY_A_START.map(
    ({ reason, codes }) => `- ${reason} ${codes.map((code) => `\`${code}\``).join(', ')}.\n`,
  )
  return INTRODUCTION + rows.join('') + START_ONLY_TITLE + reasons.join('')
}

/** `check`: `holdfast config check`, and a start with the same words. */
export function foundBy(code: string): 'check' | 'start' | 'command' {
  if (OF_COMMANDS.includes(code)) return 'command'
  return ONLY_A_START.some(({ codes }) => codes.includes(code)) ? 'start' : 'check'
}

if (import.meta.main) writeFileSync(new URL('../../docs/start-errors.md', import.meta.url), startErrorsPage())
